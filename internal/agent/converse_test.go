package agent_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// saysDone is a Reader of a program that has finished once it says "done".
type saysDone struct{ done bool }

func (r *saysDone) Line(line []byte) ([]agent.Entry, bool) {
	r.done = r.done || string(line) == "done"
	return []agent.Entry{{Kind: agent.Used, Usage: &agent.Usage{InputTokens: 1}}}, true
}

func (r *saysDone) End(process.Result, string) agent.Ending {
	return agent.Ending{Whole: r.done, Answer: "the answer"}
}

// The call also reaches its budget by that last line, and is ended because of it.
func TestACallThatIsEndedWhenItHadFinishedCounts(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]error{"done": nil, "working": context.Canceled} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		program := agent.Program{Agent: "a", Args: []string{"/bin/sh", "-c", "echo " + said + "; exec sleep 1000"}, Reader: &saysDone{}}
		result, err := program.Run(ctx, agent.Task{Role: "planner", Dir: t.TempDir(), Log: io.Discard, Total: time.Minute, OutputLimit: 1 << 20,
			Transcript: func(e agent.Entry) {
				if e.Kind == agent.Used {
					cancel()
				}
			}}, host{})
		if !errors.Is(err, want) || want == nil && (result.Failure != nil || result.Answer != "the answer") {
			t.Errorf("%s: %+v, %v; want %v", said, result, err, want)
		}
	}
}

// loses is an executor that runs a command and then loses something of its end.
type loses struct{ err error }

func (l loses) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	result, err := process.Run(ctx, c)
	return result, errors.Join(err, l.err)
}

// A call isn't paid for twice because the end of its program was lost. A process that does not die may still write, so nothing is known about what
// it leaves.
func TestAFinishedAnswerCountsThoughTheExitStatusIsLost(t *testing.T) {
	t.Parallel()
	lost := errors.New("the end of its output was lost")
	for _, c := range []struct {
		said      string
		err, want error
	}{{"done", lost, nil}, {"working", lost, lost}, {"done", process.ErrUnkillable, process.ErrUnkillable}} {
		program := agent.Program{Agent: "a", Args: []string{"/bin/sh", "-c", "echo " + c.said}, Reader: &saysDone{}}
		result, err := program.Run(t.Context(), agent.Task{Role: "planner", Dir: t.TempDir(), Log: io.Discard, Total: time.Minute, OutputLimit: 1 << 20}, loses{c.err})
		if !errors.Is(err, c.want) || c.want == nil && result.Answer != "the answer" {
			t.Errorf("%s, %v: %+v, %v; want %v", c.said, c.err, result, err, c.want)
		}
	}
}
