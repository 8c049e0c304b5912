package agenttest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// Talk is the result of a call in which the program may ask.
type Talk struct {
	agent.Result
	Asked   []agent.Question
	Entries []agent.Entry
}

// Talk runs the driver with a program that gets these answers, in order, and permission for everything that it asks after them. A task's own Ask
// replaces the answers. How the program ends doesn't matter.
func (d Driver) Talk(t *testing.T, program process.Executor, task agent.Task, answers ...agent.Answer) (talk Talk) {
	t.Helper()
	var mu sync.Mutex
	task.Role, task.Dir, task.Log, task.OutputLimit = "implementer", "/work", io.Discard, 8<<20
	task.Prompt = cmp.Or(task.Prompt, "Write the file.")
	task.Transcript = func(e agent.Entry) {
		mu.Lock()
		defer mu.Unlock()
		talk.Entries = append(talk.Entries, e)
	}
	if task.Ask == nil {
		task.Ask = func(_ context.Context, q agent.Question) (agent.Answer, error) {
			if talk.Asked = append(talk.Asked, q); len(talk.Asked) > len(answers) {
				return agent.Answer{Verdict: agent.Allowed}, nil
			}
			return answers[len(talk.Asked)-1], nil
		}
	}
	talk.Result = d.run(t, agent.Settings{Model: d.Model, Permissions: agent.Ask}, task, ending{program})
	return talk
}

// Kinds returns the kinds of the transcript's entries.
func (t Talk) Kinds() string {
	var all []string
	for _, e := range t.Entries {
		all = append(all, string(e.Kind))
	}
	return strings.Join(all, " ")
}

// RecordedTalk returns a program's recorded output of a talk, from the driver's testdata.
func RecordedTalk(t testing.TB, name string) string {
	t.Helper()
	stream, err := os.ReadFile("testdata/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return string(stream)
}

// ending replaces a program's end by that of a program that was not really run.
type ending struct{ program process.Executor }

// Exec implements process.Executor.
func (e ending) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	_, err := e.program.Exec(ctx, c)
	return process.Result{Started: Started, Duration: time.Second, Ending: process.Exited}, err
}

// Withdraws checks that the driver ends a question that its program withdraws. The program prints asks, withdraws, and then ends, which ends the call
// well with the answer "done".
func (d Driver) Withdraws(t *testing.T, asks, withdraws, ends string) {
	t.Helper()
	program := &withdrawing{asks: asks, withdraws: withdraws, ends: ends, asked: make(chan struct{}), dropped: make(chan struct{})}
	talk := d.Talk(t, program, agent.Task{Ask: func(ctx context.Context, _ agent.Question) (agent.Answer, error) {
		close(program.asked)
		<-ctx.Done()
		close(program.dropped)
		return agent.Answer{}, ctx.Err()
	}})
	if talk.Failure != nil || talk.Answer != "done" {
		t.Errorf("Failure = %+v, answer %q", talk.Failure, talk.Answer)
	}
}

// withdrawing asks, withdraws the question, and ends once the question is no longer open.
type withdrawing struct {
	asks, withdraws, ends string
	asked, dropped        chan struct{}
}

var errStill = errors.New("a question is still open, or none was asked")

// Exec implements process.Executor.
func (w *withdrawing) Exec(_ context.Context, c process.Command) (process.Result, error) {
	late := time.After(patience)
	_, _ = io.WriteString(c.Stdout, w.asks)
	for _, s := range []struct {
		next chan struct{}
		text string
	}{{w.asked, w.withdraws}, {w.dropped, w.ends}} {
		select {
		case <-s.next:
		case <-late:
			return process.Result{}, errStill
		}
		if _, err := io.WriteString(c.Stdout, s.text); err != nil {
			return process.Result{}, err
		}
	}
	return process.Result{}, nil
}

// Hostile is a command that hides what it does, and is longer than a person would read.
var Hostile = "echo \x1b[2J\x1b]0;title\x07\u202e\r\nrm -rf ~ " + strings.Repeat("x", 1<<20)

// HostileOptions are more options than a person would read; the first one hides something.
func HostileOptions() []any {
	options := []any{map[string]string{"label": "Yes\x1b[31m\n", "description": strings.Repeat("y", 1<<16)}}
	for range 40 {
		options = append(options, map[string]string{"label": "No"})
	}
	return options
}

// CheckShown checks that questions that hide something are shown clean, bounded, and as altered.
func CheckShown(t *testing.T, asked []agent.Question) {
	t.Helper()
	for _, q := range asked {
		for _, s := range append([]string{q.Tool, q.Text, q.Subject}, q.Options...) {
			if s != agent.Text(s) || !q.Altered || len(q.Options) > agent.MaxOptions {
				t.Errorf("%.200q (altered %v)", s, q.Altered)
			}
		}
	}
}
