package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/app/board"
)

const (
	readTimeout = 10 * time.Second
	goodbye     = 2 * time.Second
)

// listen answers until stop is called.
func (s *Server) listen(ctx context.Context) (stop func()) {
	var servers []*http.Server
	serve := func(at net.Listener, server *http.Server) {
		server.BaseContext = func(net.Listener) context.Context { return ctx }
		servers = append(servers, server)
		go func() {
			serves := server.Serve
			if server.TLSConfig != nil { // with HTTP/2
				serves = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
			}
			if err := serves(at); !errors.Is(err, http.ErrServerClosed) {
				s.Log.Error("nothing is answered any more", "at", at.Addr().String(), "err", err)
			}
		}()
	}
	if s.Listener != nil {
		own := http.NewServeMux()
		own.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { s.health(w, false) })
		own.HandleFunc("POST /webhook/{project}", s.takeWebhook)
		serve(s.Listener, s.Server(own))
	}
	if s.Metrics != nil {
		serve(s.Metrics, &http.Server{Handler: s.metricsHandler(), ReadTimeout: readTimeout, WriteTimeout: readTimeout})
	}
	return func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
		defer cancel()
		for _, h := range servers {
			if h.Shutdown(limited) != nil {
				_ = h.Close()
			}
		}
	}
}

// metricsHandler answers programs that watch this one. At a loopback address a request has to name one: a page of another site reaches it by a name of
// that site, and could read the answer.
func (s *Server) metricsHandler() http.Handler {
	detailed := http.NewServeMux()
	detailed.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { s.health(w, true) })
	detailed.HandleFunc("GET /metrics", s.metrics)
	if at, is := s.Metrics.Addr().(*net.TCPAddr); !is || !at.IP.IsLoopback() {
		return detailed
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = strings.Trim(r.Host, "[]")
		}
		if ip := net.ParseIP(host); !strings.EqualFold(host, "localhost") && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "this server doesn't have that name", http.StatusMisdirectedRequest)
			return
		}
		detailed.ServeHTTP(w, r)
	})
}

func (s *Server) takeWebhook(w http.ResponseWriter, r *http.Request) {
	for _, p := range s.projects {
		if handler := p.webhook.Load(); p.Name == r.PathValue("project") && handler != nil {
			r.URL.Path = "/webhook"
			(*handler).ServeHTTP(w, r)
			return
		}
	}
	http.NotFound(w, r)
}

// state is how serve is. Names of projects are for who watches this machine.
type state struct {
	Status   string        `json:"status"`
	Projects int           `json:"projects"`
	Waiting  int           `json:"waiting"`
	Each     []stateOfEach `json:"each,omitempty"`
}

type stateOfEach struct {
	Name     string `json:"name"`
	Obstacle string `json:"obstacle,omitempty"`
	Working  int    `json:"working"`
	Ready    int    `json:"ready"`
}

// health answers with 200 once every project was opened or is known to wait for a person.
func (s *Server) health(w http.ResponseWriter, detailed bool) {
	h := state{Status: "ok", Projects: len(s.projects)}
	for _, p := range s.projects {
		working, _, ready := p.standing()
		p.mu.Lock()
		each := stateOfEach{Name: p.Name, Working: working, Ready: len(ready)}
		switch {
		case p.obstacle != nil:
			h.Waiting++
			each.Obstacle = p.Hide(p.obstacle.Error())
		case p.app == nil:
			h.Status = "starting"
		}
		p.mu.Unlock()
		if detailed {
			h.Each = append(h.Each, each)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	if h.Status != "ok" {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(h)
}

// counts are how many requests are in each column, in all projects or one of them.
func (p *project) counts() map[board.Column]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	counts := map[board.Column]int{}
	for _, c := range p.cards {
		counts[c.column]++
	}
	return counts
}

// sum says in a line how serve is.
func (s *Server) sum() string {
	working, needs := 0, 0
	for _, p := range s.projects {
		counts := p.counts()
		working += counts[board.Working]
		needs += counts[board.NeedsYou] + counts[board.Ready]
	}
	return fmt.Sprintf("%d projects; %d runs at work; %d need you", len(s.projects), working, needs)
}

// metrics answers in Prometheus's text format.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	var text strings.Builder
	family := func(name, kind, help string, each func(p *project, line func(value any, labels string))) {
		fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, help, kind)
		for _, p := range s.projects {
			each(p, func(value any, labels string) {
				fmt.Fprintf(&text, "%s{project=%q%s} %v\n", name, p.Name, labels, value)
			})
		}
	}
	family("signalbox_requests", "gauge", "Requests with a run, by column of the board.", func(p *project, line func(any, string)) {
		counts := p.counts()
		for _, c := range board.Columns {
			line(counts[c], fmt.Sprintf(",column=%q", c))
		}
	})
	family("signalbox_ready_requests", "gauge", "Requests whose run is to begin or continue, and waits for its turn.", func(p *project, line func(any, string)) {
		_, _, ready := p.standing()
		line(len(ready), "")
	})
	family("signalbox_project_up", "gauge", "Whether the project is kept going.", func(p *project, line func(any, string)) {
		p.mu.Lock()
		defer p.mu.Unlock()
		up := 0
		if p.app != nil {
			up = 1
		}
		line(up, "")
	})
	family("signalbox_begun_total", "counter", "Processes of runs that serve began.", func(p *project, line func(any, string)) { line(p.begun.Load(), "") })
	family("signalbox_not_begun_total", "counter", "Runs that did not begin.", func(p *project, line func(any, string)) { line(p.failed.Load(), "") })
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) == nil {
		fmt.Fprintf(&text, "# HELP process_cpu_seconds_total CPU time of serve itself.\n# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total %.2f\n",
			time.Duration(used.Utime.Nano()+used.Stime.Nano()).Seconds())
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(text.String()))
}
