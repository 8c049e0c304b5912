package livetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
)

// Asks checks what only the real program can show of a driver that supports agent.Ask: it asks before it acts, does what is allowed, and continues
// without what is denied.
func Asks(t *testing.T, name string, make Make, traits ...Trait) {
	t.Parallel()
	s := newSession(t, installed(t, name), make)
	s.unlisted(t)
	s.minutely = slices.Contains(traits, Minutely)
	server := s.serveEach(t, func(c modeltest.Conversation) modeltest.Script {
		if strings.Contains(c.Prompt, "You were not allowed") { // some agents learn of a denial in a prompt
			return modeltest.Script{Turns: []modeltest.Turn{modeltest.Say(written)}}
		}
		return modeltest.Script{Turns: []modeltest.Turn{
			modeltest.Do(modeltest.Run("sh -c 'echo hello >hello.txt'")),
			modeltest.Do(modeltest.Run("sh -c 'echo bye >bye.txt'")),
			modeltest.Say(written),
		}}
	})
	var asked []agent.Question
	task := s.task(server.URL)
	task.Ask = func(_ context.Context, q agent.Question) (agent.Answer, error) {
		asked = append(asked, q)
		if strings.Contains(q.Subject, "bye.txt") {
			return agent.Answer{Verdict: agent.Denied, Text: "Stay."}, nil
		}
		return agent.Answer{Verdict: agent.Allowed}, nil
	}
	result := s.run(t, agent.Ask, task)
	if result.Failure != nil || result.Answer != written {
		t.Errorf("answer %q\n%s", result.Answer, s.log.String())
	}
	for _, q := range asked {
		t.Logf("%+v", q)
	}
	subjects := func(word string) bool {
		return slices.ContainsFunc(asked, func(q agent.Question) bool {
			return q.Kind == agent.Permission && strings.Contains(q.Subject, word) && !q.Altered
		})
	}
	if !subjects("hello.txt") || !subjects("bye.txt") || len(asked) > 2 {
		t.Errorf("it asked %+v", asked)
	}
	_, hello := os.Stat(filepath.Join(s.work, "hello.txt"))
	if _, bye := os.Stat(filepath.Join(s.work, "bye.txt")); hello != nil || bye == nil {
		t.Errorf("what it was allowed: %v; what it was not: %v", hello, bye)
	}
	s.asked(t, server)
	if !slices.Contains(traits, Killable) {
		s.goesOnAsking(t, result.Conversation)
	}
}

// goesOnAsking checks that the resumed conversation still asks.
func (s *session) goesOnAsking(t *testing.T, c *agent.Conversation) {
	t.Helper()
	server := s.serve(t, modeltest.Script{Turns: []modeltest.Turn{modeltest.Do(modeltest.Run("sh -c 'echo again >again.txt'")), modeltest.Say("Still there.")}})
	task, asked := s.task(server.URL), 0
	task.Prompt, task.Conversation = "Is it there?", c
	task.Ask = func(context.Context, agent.Question) (agent.Answer, error) {
		asked++
		return agent.Answer{Verdict: agent.Allowed}, nil
	}
	result := s.run(t, agent.Ask, task)
	if err := os.Remove(filepath.Join(s.work, "again.txt")); err != nil || asked == 0 {
		t.Errorf("it asked %d times: %v", asked, err)
	}
	if result.Failure != nil || result.Answer != "Still there." || result.Conversation == nil || c == nil || result.Conversation.ID != c.ID {
		t.Errorf("answer %q in %+v after %+v\n%s", result.Answer, result.Conversation, c, s.log.String())
	}
	for _, x := range server.Answers() {
		if len(x.Conversation.Tools) > 0 && !strings.Contains(string(x.Body), prompt) && x.Size == len(x.Body) {
			t.Errorf("request %d does not go on with the conversation", x.Number)
		}
	}
}

// AsksAfterKill checks that a driver can resume a conversation that was killed while it waited for an answer: it asks again, and the same
// conversation can be resumed with full permissions, and then once more asks.
func AsksAfterKill(t *testing.T, name string, make Make, traits ...Trait) {
	t.Parallel()
	s := newSession(t, installed(t, name), make)
	s.minutely = slices.Contains(traits, Minutely)
	server := s.serve(t, modeltest.Script{Turns: []modeltest.Turn{modeltest.Do(modeltest.Run("sh -c 'echo hello >hello.txt'")), modeltest.Say(written)}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	task := s.task(server.URL)
	task.Ask = func(ctx context.Context, _ agent.Question) (agent.Answer, error) {
		cancel()
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	}
	if _, err := s.make(t, s.program, agent.Ask).Run(ctx, task, s); !errors.Is(err, context.Canceled) {
		t.Fatalf("Run = %v\n%s", err, s.log.String())
	}
	begin := slices.IndexFunc(s.entries, func(e agent.Entry) bool { return e.Kind == agent.Began })
	if begin < 0 {
		t.Fatalf("no conversation began\n%s", s.log.String())
	}
	begun := &agent.Conversation{ID: s.entries[begin].Conversation}
	s.goesOnAsking(t, begun)
	again := s.serve(t, modeltest.Script{Turns: []modeltest.Turn{modeltest.Say("Still there.")}})
	task = s.task(again.URL)
	task.Prompt, task.Conversation = "And now?", begun
	result := s.run(t, agent.Everything, task)
	if result.Failure != nil || result.Answer != "Still there." || result.Conversation.ID != begun.ID {
		t.Errorf("with all permissions: answer %q in %+v\n%s", result.Answer, result.Conversation, s.log.String())
	}
	s.goesOnAsking(t, begun)
}

// TypesNothing checks that a call is refused that leaves a command running for later input, because the agent would not ask about the input.
func TypesNothing(t *testing.T, name, tool, arguments string, make Make) {
	t.Parallel()
	s := newSession(t, installed(t, name), make)
	server := s.serve(t, modeltest.Script{Turns: []modeltest.Turn{modeltest.Do(modeltest.Tool(tool, arguments)), modeltest.Say(written)}})
	task := s.task(server.URL)
	task.Ask = func(_ context.Context, q agent.Question) (agent.Answer, error) {
		t.Errorf("it asked %+v", q)
		return agent.Answer{Verdict: agent.Allowed}, nil
	}
	if result := s.run(t, agent.Ask, task); result.Failure != nil || result.Answer != written {
		t.Errorf("answer %q\n%s", result.Answer, s.log.String())
	}
	s.asked(t, server)
}
