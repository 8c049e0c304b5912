package heal_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/process"
	"signalbox/internal/workflow"
)

func command(id, line string) workflow.HealthCheck {
	return workflow.HealthCheck{ID: id, Kind: workflow.HealthCommand, Severity: workflow.Major, Command: line, TimeLimitMS: 60_000, Looks: 2}
}

// looked is what a pass saw of one check; its runs repair nothing.
func (s *site) looked(t *testing.T, id string) heal.Look {
	t.Helper()
	s.comes = workflow.NeedsInput
	report, err := s.config.Pass(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range report.Looks {
		if l.Check == id {
			return l
		}
	}
	t.Fatalf("%s was not looked at: %+v", id, report.Looks)
	return heal.Look{}
}

func TestEveryKindOfCheckSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no such table", http.StatusInternalServerError)
	}))
	t.Cleanup(server.Close)
	slow := command("slow", "echo half way; sleep 60")
	slow.TimeLimitMS = 5000 // enough for its first words, on any machine
	asked := workflow.HealthCheck{ID: "live", Kind: workflow.HealthService, TimeLimitMS: 60_000, Looks: 1, HTTP: &workflow.HealthHTTP{URL: server.URL + "/orders", Method: "GET", Status: 200}}
	s := newSite(t, command("fine", "echo all is well"), command("lint", "echo main.go:7: unused variable; exit 3"), slow, asked,
		workflow.HealthCheck{ID: "tests", Kind: workflow.HealthBranchTests, TimeLimitMS: 60_000, Looks: 1},
		workflow.HealthCheck{ID: "ci", Kind: workflow.HealthForgeCI, Looks: 1}, command("secret", "echo token=hunter2hunter2; false"))
	s.config.Tests = []string{"true", "echo --- FAIL: TestTotal; false", "echo never"}
	s.config.Branch = func(context.Context) (forge.Check, error) {
		return forge.Check{State: forge.CheckFailed, Command: "make", Summary: "make: *** [test] Error 1"}, nil
	}
	s.comes = workflow.NeedsInput
	report := s.pass(t, health.PassWaiting)
	for id, want := range map[string]string{"fine": "", "lint": "exit code 3:\nmain.go:7: unused variable", "slow": "took longer than its time limit of 5s:\nhalf way",
		"live": "status 500, want 200\nno such table", "tests": "$ echo --- FAIL: TestTotal; false:\nexit code 1:\n--- FAIL: TestTotal", "ci": "make:\nmake: *** [test] Error 1", "secret": "[redacted]"} {
		found := false
		for _, l := range report.Looks {
			if l.Check == id {
				found = (l.Outcome == heal.LookPassed) == (want == "") && strings.Contains(l.Message, want) && (l.ErrorID == "") == (want == "") && !strings.Contains(l.Message, "hunter2")
			}
		}
		if !found {
			t.Errorf("%s does not say %q: %+v", id, want, report.Looks)
		}
	}
	if e := report.Health.Error(health.ErrorID("lint", "exit code 3", "main.go:7: unused variable")); e == nil {
		t.Error("the id is not of the head and of what was said")
	}
	if got := len(report.Health.Loop.Errors); got != 6 {
		t.Errorf("%d errors are open, want 6", got)
	}
}

// The command is the same, and so is its exit code: what it says is another error, in whatever words.
func TestADifferentMessageIsAnotherError(t *testing.T) {
	t.Parallel()
	answer := "" // of the service
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = fmt.Fprintln(w, answer)
	}))
	t.Cleanup(server.Close)
	s := newSite(t, command("value", "cat value.cfg; exit 1"), workflow.HealthCheck{ID: "live", Kind: workflow.HealthService, TimeLimitMS: 60_000, Looks: 1,
		HTTP: &workflow.HealthHTTP{URL: server.URL, Method: "GET", Status: 200}}, workflow.HealthCheck{ID: "tests", Kind: workflow.HealthBranchTests, TimeLimitMS: 60_000, Looks: 1})
	known := map[string]string{}
	for i, says := range []string{"database is down", "certificate expired yesterday"} {
		if err := os.WriteFile(filepath.Join(s.dir, "value.cfg"), []byte(says+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		answer, s.config.Tests = says, []string{[]string{"false", "! true"}[i]}
		for _, id := range []string{"value", "live", "tests"} {
			l := s.looked(t, id)
			if before, twice := known[l.ErrorID]; twice || l.Outcome != heal.LookFailed {
				t.Errorf("%s %q has the id of %q", id, l.Message, before)
			}
			known[l.ErrorID] = l.Message
		}
	}
}

// A hundred tests beside each other: they end in another order each time, after times of other lengths, and say more than is shown.
func TestALongOutputInAnotherOrderIsTheSameError(t *testing.T) {
	t.Parallel()
	s := newSite(t, command("tests", "cat out; exit 1"))
	says := func(first, last, step int, took string) string {
		var out strings.Builder
		for i := first; i != last; i += step {
			_, _ = fmt.Fprintf(&out, "=== RUN   TestOrder%d\n--- FAIL: TestOrder%d (%s)\n    order_test.go:%d: want the price that the shop of this customer asks for, got none after %s\n", i, i, took, 100+i, took)
		}
		if err := os.WriteFile(filepath.Join(s.dir, "out"), []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		l := s.looked(t, "tests")
		if lines := strings.Split(l.Message, "\n"); len(l.Message) > 9<<10 || lines[0] != "exit code 1:" || lines[1] != health.LeftOut || !strings.HasPrefix(lines[2], "=== RUN") && !strings.HasPrefix(lines[2], "---") && !strings.HasPrefix(lines[2], "    order") {
			t.Errorf("%d bytes that begin with %q", len(l.Message), lines[:3])
		}
		return l.ErrorID
	}
	first := says(0, 100, 1, "0.01s")
	if again := says(99, -1, -1, "12.345s"); again != first {
		t.Errorf("two ids: %s and %s", first, again)
	}
	if other := says(0, 99, 1, "0.01s"); other == first {
		t.Error("one id, although another test passes")
	}
}

// More output than is kept: the last line says why it failed.
func TestTheEndOfALongOutputIsReported(t *testing.T) {
	t.Parallel()
	s := newSite(t, command("tests", "yes all is tidy so far | head -c 40000000; echo; echo the price of order 17 is lost; exit 1"))
	s.comes = workflow.NeedsInput
	report := s.pass(t, health.PassWaiting)
	for where, text := range map[string]string{"look": report.Looks[0].Message, "state": report.Health.LastErrorSummary} {
		head := "exit code 1:\n" + health.LeftOut + "\n"
		if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, "\nthe price of order 17 is lost") || strings.Count(text, health.LeftOut) != 1 {
			t.Errorf("%s: %d bytes, %.60q … %q", where, len(text), text, text[max(0, len(text)-60):])
		}
	}
}

func TestARequestHoldsNoSecretOfItsChecksLine(t *testing.T) {
	t.Parallel()
	login := command("api-token", "echo DB_PASSWORD=hunter2xx; false")
	login.Recipe = "log in with password=hunter2yy"
	asked := func(id, start string) workflow.HealthCheck {
		return workflow.HealthCheck{ID: id, Kind: workflow.HealthService, Severity: workflow.Minor, TimeLimitMS: 5000, Looks: 1,
			HTTP: &workflow.HealthHTTP{Start: start, URL: "http://127.0.0.1:1/?token=hunter2zz&x=1", Method: "GET", Status: 200}}
	}
	s := newSite(t, login, asked("live", ""), asked("started", "SECRET=hunter2vv ./serve"))
	s.config.Ask = func(workflow.HealthCheck) process.Command {
		return process.Command{Args: []string{"sh", "-c", "echo it ended; exit 1"}}
	}
	s.comes = workflow.NeedsInput
	s.pass(t, health.PassWaiting)
	var all strings.Builder
	for _, r := range s.runs {
		all.WriteString(r.Request.Title + "\n" + r.Request.Body)
	}
	for _, want := range []string{"- check: api-token: echo DB_PASSWORD=[redacted]", "- check: live: GET http://127.0.0.1:1/?token=[redacted]&x=1",
		"started by: SECRET=[redacted] ./serve", "log in with password=[redacted]"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no request holds %q", want)
		}
	}
	if len(s.runs) != 3 || strings.Contains(all.String(), "hunter2") {
		t.Errorf("%d requests hold a secret:\n%s", len(s.runs), all.String())
	}
}

func TestTheTimeLimitOfALookAtTheTestsIsThatOfAllOfThem(t *testing.T) {
	t.Parallel()
	s := newSite(t, workflow.HealthCheck{ID: "tests", Kind: workflow.HealthBranchTests, TimeLimitMS: 5000, Looks: 1})
	s.config.Tests = []string{"vet", "test"}
	s.config.Place = func(context.Context) (heal.Place, error) { return slowYard{yard{dir: s.dir}}, nil }
	if l := s.looked(t, "tests"); l.Outcome != heal.LookFailed || !strings.HasPrefix(l.Message, "$ test:\ntook longer than its time limit of 5s") {
		t.Errorf("%+v", l)
	}
}

func TestACheckThatPassesOnASecondLookIsNoError(t *testing.T) {
	t.Parallel()
	s := newSite(t, command("flaky", "test -e tried || { touch tried; echo connection reset; false; }"))
	s.pass(t, health.PassHealthy)
	s.wantCounts(t, "healthy retry=false failures=0 detected=0 attempted=0 succeeded=0 runs=1")
}

func TestAForgeWithoutAVerdictIsNeitherAFailureNorASuccess(t *testing.T) {
	t.Parallel()
	s := newSite(t, workflow.HealthCheck{ID: "ci", Kind: workflow.HealthForgeCI, Looks: 1})
	if l := s.looked(t, "ci"); l.Outcome != heal.LookUnknown || !strings.Contains(l.Message, "no CI") {
		t.Errorf("%+v", l)
	}
	s.config.Branch = func(context.Context) (forge.Check, error) {
		return forge.Check{}, fmt.Errorf("x: %w", forge.ErrNoChecks)
	}
	if l := s.looked(t, "ci"); l.Outcome != heal.LookUnknown {
		t.Errorf("%+v", l)
	}
}

func TestACheckThatPassedIsLeftAloneForItsInterval(t *testing.T) {
	t.Parallel()
	dear := command("dear", "echo x >>looks; ! test -e broken")
	dear.IntervalSec, dear.Looks = 3600, 1
	s := newSite(t, dear)
	looks := func() int {
		data, err := os.ReadFile(filepath.Join(s.dir, "looks"))
		if err != nil {
			t.Fatal(err)
		}
		return len(data) / 2
	}
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {59 * time.Minute, 1}, {time.Minute, 2}, {-48 * time.Hour, 3}} {
		s.clock.move(step.after)
		s.pass(t, health.PassHealthy)
		if got := looks(); got != step.want {
			t.Errorf("%s later it was looked at %d times, want %d", step.after, got, step.want)
		}
	}
	s.clock.move(time.Hour)
	s.breakIt(t, "x")
	s.comes = workflow.Failed
	s.pass(t, health.PassFailed)
	s.clock.move(5 * time.Minute)
	s.pass(t, health.PassFailed)
	if got := looks(); got != 5 {
		t.Errorf("an error that is open was looked at %d times, want 5", got)
	}
}

func TestALogIsReadFromWhereItEndedAndItsErrorIsAskedForByItsRerun(t *testing.T) {
	t.Parallel()
	s := newSite(t, workflow.HealthCheck{ID: "log", Kind: workflow.HealthLog, Severity: workflow.Major, File: "app.log", Pattern: `ERROR|panic:`,
		Rerun: "! test -e broken", TimeLimitMS: 60_000, Looks: 1})
	path := filepath.Join(s.dir, "app.log")
	write := func(text string) {
		t.Helper()
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = file.WriteString(text)
			_ = file.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("07:00:00 ERROR of long ago\n")
	s.pass(t, health.PassHealthy)
	write("07:01:00 fine\n07:02:00 ERROR of a line that is not whole")
	s.pass(t, health.PassHealthy)
	write(" yet\n")
	s.breakIt(t, "")
	s.comes = workflow.Failed
	first := s.pass(t, health.PassFailed).Looks[0]
	if !strings.Contains(first.Message, "not whole yet") || strings.Contains(first.Message, "long ago") {
		t.Errorf("found %q", first.Message)
	}
	s.clock.move(5 * time.Minute)
	if again := s.pass(t, health.PassFailed).Looks[0]; again.ErrorID != first.ErrorID || again.Message != first.Message {
		t.Errorf("the same error is %+v, was %+v", again, first)
	}
	s.clock.move(5 * time.Minute)
	s.comes = workflow.Done
	s.pass(t, health.PassRepaired)
	s.pass(t, health.PassHealthy)
	write("07:03:00 ERROR at the end of the old log")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	write("panic: a log begun anew\n")
	if l := s.looked(t, "log"); l.Outcome != heal.LookFailed || l.Message != "07:03:00 ERROR at the end of the old log\npanic: a log begun anew" {
		t.Errorf("after rotation: %+v", l)
	}
}

func TestALogThatLeadsOutOfTheProjectIsNotRead(t *testing.T) {
	t.Parallel()
	s := newSite(t, workflow.HealthCheck{ID: "log", Kind: workflow.HealthLog, File: "app.log", Pattern: `.`, Rerun: "true", TimeLimitMS: 60_000, Looks: 1})
	if err := os.Symlink("/etc/passwd", filepath.Join(s.dir, "app.log")); err != nil {
		t.Fatal(err)
	}
	if l := s.looked(t, "log"); l.Outcome != heal.LookUnknown || !strings.Contains(l.Message, "open log") {
		t.Errorf("%+v", l)
	}
}

// Checks run in parallel: all have started before the first verdict.
func TestAllChecksAreLookedAtAtOnce(t *testing.T) {
	t.Parallel()
	const n = 8
	var checks []workflow.HealthCheck
	for i := range n {
		checks = append(checks, command(fmt.Sprintf("c%d", i), "true"))
	}
	s := newSite(t, checks...)
	var waiting atomic.Int32
	all := make(chan struct{})
	place := s.config.Place
	within, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	s.config.Place = func(ctx context.Context) (heal.Place, error) {
		p, err := place(ctx)
		return meeting{p, func() {
			if waiting.Add(1) == n {
				close(all)
			}
			select {
			case <-all:
			case <-within.Done():
				t.Error("a check waits for one that did not begin")
			}
		}}, err
	}
	s.pass(t, health.PassHealthy)
}
