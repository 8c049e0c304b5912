package agenttest

import (
	"context"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/process"
)

// Recorded is a program that prints what a real program printed, and ends as it did.
type Recorded modeltest.Recording

// Exec implements process.Executor.
func (r Recorded) Exec(_ context.Context, c process.Command) (process.Result, error) {
	if _, err := c.Stdout.Write(r.Stdout); err != nil {
		return process.Result{}, err
	}
	_, err := io.WriteString(c.Stderr, r.Stderr)
	return process.Result{Started: Started, Duration: time.Second, Ending: r.Ending, ExitCode: r.ExitCode, Signal: r.Signal}, err
}

// Outcome is the result that a recording must have.
type Outcome struct {
	// Code is the failure's, whose message contains Message; empty wants the answer that all recordings have.
	Code    agent.FailureCode
	Message string
	// Until is the failure's Until, as in RFC 3339.
	Until string
	// Kinds are the kinds of the transcript's entries.
	Kinds string
	Usage agent.Usage
	// Nobody: the program printed nothing, not even the conversation's id.
	Nobody bool
}

// Replays checks the result of each of the driver's recordings.
func (d Driver) Replays(t *testing.T, wants map[string]Outcome) {
	for _, name := range modeltest.Cases(t, d.Name) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, known := wants[name]
			if !known {
				t.Fatal("this case has no expected outcome")
			}
			result, kinds := d.Replay(t, Recorded(modeltest.Recorded(t, d.Name, name)), nil)
			CheckFailure(t, result, want.Code, want.Message)
			checkUntil(t, result, want.Until)
			if kinds != want.Kinds {
				t.Errorf("entries %q, want %q", kinds, want.Kinds)
			}
			checkUsage(t, result.Usage, want.Usage)
			if (want.Code == "") != (result.Answer == "It is written.") {
				t.Errorf("Answer = %q", result.Answer)
			}
			if c := result.Conversation; (c == nil) != want.Nobody || c != nil && c.ID != d.Conversation || len(result.Denied) > 0 {
				t.Errorf("Conversation = %+v, Denied = %q", c, result.Denied)
			} else if d.CountsOn {
				checkUsage(t, c.Usage, want.Usage)
			}
		})
	}
}

// Replay runs the driver with a program that prints a recording. It returns the result and the kinds of the transcript's entries.
func (d Driver) Replay(t *testing.T, r Recorded, resumed *agent.Conversation) (result agent.Result, kinds string) {
	t.Helper()
	result, entries := d.replay(t, r, resumed)
	for _, e := range entries {
		if e.Kind == agent.PermissionDenied && e.Text == "" {
			t.Errorf("what was denied is not said: %+v", e)
		}
	}
	return result, Talk{Entries: entries}.Kinds()
}

func (d Driver) replay(t *testing.T, r Recorded, resumed *agent.Conversation) (result agent.Result, entries []agent.Entry) {
	t.Helper()
	task := agent.Task{Role: "reviewer", Idle: time.Minute, Total: 2 * time.Minute, OutputLimit: 1 << 20, Log: io.Discard, Conversation: resumed,
		Transcript: func(e agent.Entry) { entries = append(entries, e) }}
	return d.run(t, agent.Settings{Permissions: agent.Everything}, task, r), entries
}

// Transcribes checks the transcript of the recording "done": the kinds, tools and texts of its entries.
func (d Driver) Transcribes(t *testing.T, want [][3]string) {
	_, entries := d.replay(t, Recorded(modeltest.Recorded(t, d.Name, "done")), nil)
	var got [][3]string
	calls := map[string]int{}
	for _, e := range entries {
		if e.Text != "" || e.Tool != "" {
			got = append(got, [3]string{string(e.Kind), e.Tool, e.Text})
		}
		calls[e.Call]++
	}
	if !slices.Equal(got, want) {
		t.Errorf("entries %q, want %q", got, want)
	}
	if len(calls) != 2 {
		t.Errorf("a call and its result have no id of their own in common: %v", calls)
	}
}

func checkUntil(t *testing.T, result agent.Result, want string) {
	t.Helper()
	got := ""
	if f := result.Failure; f != nil && !f.Until.IsZero() {
		got = f.Until.UTC().Format(time.RFC3339Nano)
	}
	if got != want {
		t.Errorf("the failure lasts until %q, want %q", got, want)
	}
}

func checkUsage(t *testing.T, got, want agent.Usage) {
	t.Helper()
	if math.Abs(got.CostUSD-want.CostUSD) > 1e-9 {
		t.Errorf("cost %g, want %g", got.CostUSD, want.CostUSD)
	}
	got.CostUSD, want.CostUSD = 0, 0
	if got != want {
		t.Errorf("Usage = %+v, want %+v", got, want)
	}
}

// Printed is output that no recording has, with the result that it must have.
type Printed struct {
	Name           string
	Stdout, Stderr string
	// Ending is process.Exited where it is empty.
	Ending process.Ending
	Exit   int
	// Code, Message and Until are as in Outcome; Answer is checked if it isn't empty.
	Code                   agent.FailureCode
	Message, Until, Answer string
	// Denied are the tools that it was not allowed to use.
	Denied string
}

// Ends checks the result of each of these.
func (d Driver) Ends(t *testing.T, all []Printed) {
	for _, p := range all {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			if p.Ending == "" {
				p.Ending = process.Exited
			}
			result, kinds := d.Replay(t, Recorded{Stdout: []byte(p.Stdout), Stderr: p.Stderr, Ending: p.Ending, ExitCode: p.Exit}, nil)
			CheckFailure(t, result, p.Code, p.Message)
			checkUntil(t, result, p.Until)
			if p.Answer != "" && result.Answer != p.Answer {
				t.Errorf("Answer = %q, want %q", result.Answer, p.Answer)
			}
			if got := strings.Join(result.Denied, " "); got != p.Denied || (got != "") != strings.Contains(kinds, string(agent.PermissionDenied)) {
				t.Errorf("Denied = %q, want %q; entries %s", got, p.Denied, kinds)
			}
		})
	}
}
