package serve

import (
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/wire"
)

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

// served is a project with requests that run by themselves, of which some run.
func served(s *Server, name string, slots, requests int, now time.Time) *project {
	p := &project{Server: s, Project: Project{Name: name, Opener: &app.Opener{Clock: func() time.Time { return now }}}, cards: map[string]card{},
		begins: map[string]bool{}, tries: map[string]try{}, orders: map[string]chan error{}, app: &app.App{Project: &wire.Project{Config: config.Config{MaxParallel: slots}}}}
	for n := range requests {
		p.requests = append(p.requests, forge.Request{ID: name + string(rune('1'+n)), Number: n + 1, Auto: true})
	}
	s.projects = append(s.projects, p)
	return p
}

func TestProjectsTakeTurnsWithinTheirLimits(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := &Server{Config: Config{AtOnce: 4, Log: silent()}, woken: make(chan struct{}, 1)}
	served(s, "a", 3, 9, now)
	b := served(s, "b", 1, 9, now)
	var begun []string
	for p, id := s.next(); p != nil; p, id = s.next() {
		begun = append(begun, id)
	}
	if !slices.Equal(begun, []string{"a1", "b1", "a2", "a3"}) {
		t.Errorf("begun are %v", begun)
	}
	clear(b.begins)
	b.cards["b1"] = card{column: "done"}
	if p, id := s.next(); p != b || id != "b2" {
		t.Errorf("then it's the turn of %v", id)
	}
}

func TestWhatMayBegin(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := &Server{Config: Config{Labels: []string{"go"}}, woken: make(chan struct{}, 1)}
	p := served(s, "p", 9, 0, now)
	p.requests = []forge.Request{{ID: "auto", Number: 1, Auto: true}, {ID: "manual", Number: 2}, {ID: "labelled", Number: 3, Labels: []string{"go"}},
		{ID: "closed", Number: 4, Auto: true, Closed: true}, {ID: "after", Number: 5, Auto: true, DependsOn: []string{"4"}}, {ID: "waits", Number: 6, Auto: true, DependsOn: []string{"1"}},
		{ID: "has", Number: 7, Auto: true}, {ID: "next", Number: 8, Auto: true, DependsOn: []string{"7"}}}
	p.cards = map[string]card{"has": {column: "done", merged: true}, "cut": {cutOff: true}, "parked": {cutOff: true, then: now.Add(time.Hour)}, "held": {held: true, works: true}}
	working, _, ready := p.standing()
	if working != 1 || !slices.Equal(ready, []string{"cut", "auto", "labelled", "after", "next"}) {
		t.Errorf("%d work, and ready are %v", working, ready)
	}
	for _, pause := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second} { // of a run that is cut off again and again
		p.starting("cut")
		delete(p.begins, "cut")
		if again := p.tries["cut"].again; again.Sub(now) != pause {
			t.Errorf("it begins again after %s, want %s", again.Sub(now), pause)
		}
	}
	if _, _, ready := p.standing(); slices.Contains(ready, "cut") {
		t.Error("it begins again at once")
	}
}

func TestAUnitRunsExactlyThisCommand(t *testing.T) {
	t.Parallel()
	unit := Unit("/opt/signal box/signalbox", []string{"--listen=127.0.0.1:1", "--", `/src/50% "a$b"`}, "/usr/bin:/home/ada/.local/bin")
	for _, want := range []string{`ExecStart="/opt/signal box/signalbox" "serve" "--listen=127.0.0.1:1" "--" "/src/50%% \"a$$b\""` + "\n",
		`Environment="PATH=/usr/bin:/home/ada/.local/bin"` + "\n", "Type=notify\n", "KillMode=process\n", "RestartPreventExitStatus=2 5\n"} {
		if !strings.Contains(unit, want) {
			t.Errorf("the unit lacks %q:\n%s", want, unit)
		}
	}
}

func TestProgramsSeeHowServeIs(t *testing.T) {
	t.Parallel()
	s := &Server{Config: Config{Hide: strings.ToLower}, woken: make(chan struct{}, 1)}
	p := served(s, "p", 1, 2, time.Now())
	p.cards["p1"] = card{column: "working", works: true, held: true}
	broken := served(s, "broken", 1, 0, time.Now())
	broken.blocked(os.ErrPermission)
	answer := httptest.NewRecorder()
	s.health(answer, true)
	var got state
	if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil || answer.Code != http.StatusOK || got.Waiting != 1 || got.Each[0].Working != 1 ||
		got.Each[0].Ready != 1 || got.Each[1].Obstacle != "permission denied" {
		t.Errorf("%d: %s", answer.Code, answer.Body)
	}
	answer = httptest.NewRecorder()
	s.metrics(answer, nil)
	for _, want := range []string{`signalbox_requests{project="p",column="working"} 1`, `signalbox_project_up{project="broken"} 0`, `signalbox_ready_requests{project="p"} 1`,
		"# TYPE signalbox_begun_total counter"} {
		if !strings.Contains(answer.Body.String(), want+"\n") {
			t.Errorf("the metrics lack %s:\n%s", want, answer.Body)
		}
	}
	p.blocked(nil)
	answer = httptest.NewRecorder()
	if s.health(answer, false); answer.Code != http.StatusServiceUnavailable || strings.Contains(answer.Body.String(), "broken") {
		t.Errorf("%d: %s", answer.Code, answer.Body)
	}
}

func TestMetricsOfThisMachineAreReadByItsNamesAlone(t *testing.T) {
	t.Parallel()
	for address, names := range map[string]map[string]int{
		"127.0.0.1": {"127.0.0.1:7412": 200, "localhost": 200, "LOCALHOST:7412": 200, "[::1]:7412": 200, "[::1]": 200, "evil.example.org:7412": 421, "localhost.evil.example.org": 421, "192.0.2.1": 421, "": 421},
		"192.0.2.1": {"box.example.org:7412": 200}, // a name that its user chose
	} {
		s := &Server{Config: Config{Log: silent(), Metrics: listener{at: net.ParseIP(address)}}}
		served(s, "secret-plans", 1, 0, time.Now())
		handler := s.metricsHandler()
		for name, want := range names {
			r, answer := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil), httptest.NewRecorder()
			r.Host = name
			if handler.ServeHTTP(answer, r); answer.Code != want || strings.Contains(answer.Body.String(), "secret-plans") != (want == 200) {
				t.Errorf("at %s, %q gets %d %s", address, name, answer.Code, answer.Body)
			}
		}
	}
}

// listener is one at an address.
type listener struct {
	net.Listener
	at net.IP
}

func (l listener) Addr() net.Addr { return &net.TCPAddr{IP: l.at, Port: 7412} }
