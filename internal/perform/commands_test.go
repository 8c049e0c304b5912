package perform

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/place"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// timed is an environment in which every command takes that long, or up to its limit.
type timed struct {
	takes time.Duration
	may   []time.Duration
}

func (e *timed) Exec(_ context.Context, c process.Command) (process.Result, error) {
	e.may = append(e.may, c.Total)
	if e.takes > c.Total {
		return process.Result{Ending: process.TimedOut, Duration: c.Total}, nil
	}
	return process.Result{Ending: process.Exited, Duration: e.takes}, nil
}

// prints is an environment in which every command fails with the same output.
type prints struct{ text string }

func (p prints) Exec(_ context.Context, c process.Command) (process.Result, error) {
	_, err := io.WriteString(c.Stdout, p.text)
	return process.Result{Ending: process.Exited, ExitCode: 1}, err
}

// Only the end of a long output is kept, and it may begin within a secret.
func TestTheKeptEndOfASecretIsMasked(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-canary-value-0123456789"
	v, err := runCommands(t.Context(), prints{"key " + secret + strings.Repeat("x", shownOutput-10)}, shellCommands([]string{"make"}), nil, time.Minute, false, io.Discard)
	if err != nil || !strings.Contains(v.summary, "…") {
		t.Fatalf("%.100q, %v", v.summary, err)
	}
	if shown := redact.New(map[string]string{"MY_TOKEN": secret}).Text(v.summary); strings.Contains(shown, secret[len(secret)-10:]) {
		t.Errorf("it shows %.100q", shown)
	}
}

func TestAllCommandsOfACheckShareItsTimeLimit(t *testing.T) {
	t.Parallel()
	const s = time.Second
	ask := func(workflow.HealthCheck) process.Command { return process.Command{Args: []string{"ask"}} }
	for name, c := range map[string]struct {
		check *workflow.HealthCheck
		takes time.Duration
		want  []time.Duration
		fails bool
	}{
		"no check":        {nil, 7 * s, []time.Duration{60 * s, 60 * s}, false},
		"a command":       {&workflow.HealthCheck{Kind: workflow.HealthCommand, Command: "true", TimeLimitMS: 5000}, 4 * s, []time.Duration{60 * s, 60 * s, 5 * s}, false},
		"a slow command":  {&workflow.HealthCheck{Kind: workflow.HealthCommand, Command: "true", TimeLimitMS: 5000}, 7 * s, []time.Duration{60 * s, 60 * s, 5 * s}, true},
		"a patient one":   {&workflow.HealthCheck{Kind: workflow.HealthCommand, Command: "true", TimeLimitMS: 90_000}, 59 * s, []time.Duration{60 * s, 60 * s, 90 * s}, false},
		"a log's rerun":   {&workflow.HealthCheck{Kind: workflow.HealthLog, Rerun: "true", TimeLimitMS: 5000}, 7 * s, []time.Duration{60 * s, 60 * s, 5 * s}, true},
		"a service":       {&workflow.HealthCheck{Kind: workflow.HealthService, HTTP: &workflow.HealthHTTP{Start: "serve"}, TimeLimitMS: 5000}, 7 * s, []time.Duration{60 * s, 60 * s, 10 * s}, false},
		"the tests":       {&workflow.HealthCheck{Kind: workflow.HealthBranchTests, TimeLimitMS: 5000}, 3 * s, []time.Duration{5 * s, 2 * s}, true},
		"an old run's":    {&workflow.HealthCheck{Kind: workflow.HealthCommand, Command: "true"}, 7 * s, []time.Duration{60 * s, 60 * s, 60 * s}, false},
		"what CI said of": {&workflow.HealthCheck{Kind: workflow.HealthForgeCI, TimeLimitMS: 5000}, 7 * s, []time.Duration{60 * s, 60 * s}, false},
	} {
		settings := workflow.Settings{Tests: []string{"vet", "test"}, Check: c.check}
		env := &timed{takes: c.takes}
		v, err := runCommands(t.Context(), env, testCommands(&settings, false, ask), nil, 60*s, false, io.Discard)
		if err != nil || !slices.Equal(env.may, c.want) || v.passed == c.fails || strings.Contains(v.summary, "has to end within 5s") != c.fails {
			t.Errorf("%s: %+v, %v; each may take %s, want %s", name, v, err, env.may, c.want)
		}
	}
}

func TestAnInterruptedSetUpIsNoFailureOfTheCandidate(t *testing.T) {
	t.Parallel()
	var cut *place.CutOffError
	err := place.SetUpAgain(t.Context(), &timed{takes: time.Hour}, []string{"npm ci"}, nil, time.Minute, io.Discard)
	if !errors.As(err, &cut) || cut.Command != "npm ci" || !strings.Contains(err.Error(), "its time limit") {
		t.Errorf("a command that took too long gives %v", err)
	}
	if err := place.SetUpAgain(t.Context(), prints{}, []string{"npm ci"}, nil, time.Minute, io.Discard); err == nil || errors.As(err, &cut) {
		t.Errorf("a command that failed gives %v", err)
	}
}
