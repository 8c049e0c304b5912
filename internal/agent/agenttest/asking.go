package agenttest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
)

// asking checks an agent that may ask.
func (h Harness) asking(t *testing.T) {
	t.Run("questions are answered in order, and shown without hidden characters", func(t *testing.T) {
		t.Parallel()
		answers := []agent.Answer{{Verdict: agent.Allowed}, {Verdict: agent.Denied, Text: "not »here«"}}
		var asked []agent.Question
		var entries []agent.EntryKind
		result, log := h.run(t, Asks, func(task *agent.Task) {
			task.Transcript = func(e agent.Entry) { entries = append(entries, e.Kind) }
			task.Ask = func(_ context.Context, q agent.Question) (agent.Answer, error) {
				asked = append(asked, q)
				return answers[len(asked)-1], nil
			}
		})
		if result.Failure != nil || result.Answer != "allow\ndeny: not »here«" {
			t.Fatalf("Failure = %+v, answer %q, log %q", result.Failure, result.Answer, log)
		}
		for i, want := range []string{AskedCommands[0], "echo ''\nrm -rf ~"} {
			if q := asked[i]; q.Kind != agent.Permission || q.Subject != want || q.Tool == "" || !strings.Contains(q.Text, want) || q.Altered != (i == 1) {
				t.Errorf("question %d is %+v, want %q", i, q, want)
			}
		}
		if n := len(slices.DeleteFunc(entries, func(k agent.EntryKind) bool { return k != agent.PermissionAsked })); n != 2 {
			t.Errorf("%d of 2 questions are in the transcript", n)
		}
	})
	t.Run("without anyone to ask, a question is denied", func(t *testing.T) {
		t.Parallel()
		result, _ := h.run(t, Asks, nil)
		for _, told := range strings.Split(result.Answer, "\n") {
			if !strings.HasPrefix(told, "deny: ") {
				t.Errorf("it was told %q", told)
			}
		}
	})
	t.Run("waiting for an answer does not count as silence, and hanging afterwards does", h.waitsLonger(agent.Hung, func(task *agent.Task, limit time.Duration) { task.Idle = limit }))
	t.Run("waiting for an answer does not count as work, and hanging afterwards does", h.waitsLonger(agent.TimedOut, func(task *agent.Task, limit time.Duration) { task.Total = limit }))
	t.Run("a question ends with the program that asked it", func(t *testing.T) {
		t.Parallel()
		result, _ := h.run(t, AsksAndDies, func(task *agent.Task) { task.Ask = forever })
		CheckFailure(t, result, agent.Crashed, FailLine)
	})
	t.Run("a canceled context ends the question and the agent", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var log bytes.Buffer
		task := h.task(t, &log)
		task.Ask = func(ctx context.Context, q agent.Question) (agent.Answer, error) {
			cancel()
			return forever(ctx, q)
		}
		if _, err := h.Agent(t, Asks).Run(ctx, task, h.Exec); !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v; log %q", err, log.String())
		}
	})
	t.Run("an answer that cannot be given ends the call", func(t *testing.T) {
		t.Parallel()
		var log bytes.Buffer
		task, lost := h.task(t, &log), errors.New("no one can answer")
		task.Ask = func(context.Context, agent.Question) (agent.Answer, error) { return agent.Answer{}, lost }
		if _, err := h.Agent(t, AsksAndHangs).Run(t.Context(), task, h.Exec); !errors.Is(err, lost) {
			t.Errorf("Run = %v; log %q", err, log.String())
		}
	})
}

// waitsLonger lets the program wait for an answer for longer than its limit, and then hang. The limit also runs while the program starts, which may
// take long on a busy machine: a limit that passed before the program asked proves nothing, and is doubled.
func (h Harness) waitsLonger(want agent.FailureCode, limited func(*agent.Task, time.Duration)) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		for limit := 300 * time.Millisecond; limit < patience; limit *= 2 {
			asked, waited := false, time.Duration(0)
			result, _ := h.run(t, AsksAndHangs, func(task *agent.Task) {
				limited(task, limit)
				task.Ask = func(ctx context.Context, _ agent.Question) (agent.Answer, error) {
					began := time.Now()
					select {
					case <-ctx.Done():
					case <-time.After(3 * limit):
					}
					asked, waited = true, time.Since(began)
					return agent.Answer{Verdict: agent.Allowed}, nil
				}
			})
			CheckFailure(t, result, want, limit.String())
			if asked && waited < 3*limit {
				t.Errorf("the call was ended while it waited, after %s", waited)
			}
			if asked {
				return
			}
		}
		t.Errorf("it never asked within %s", patience)
	}
}

// forever waits for an answer that never comes.
func forever(ctx context.Context, _ agent.Question) (agent.Answer, error) {
	<-ctx.Done()
	return agent.Answer{}, ctx.Err()
}
