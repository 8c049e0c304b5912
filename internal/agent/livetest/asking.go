package livetest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
)

// Asks holds a driver that knows agent.Ask to what only the real program can show: it asks before it
// does, does what it is allowed to, and goes on without what it is not.
func Asks(t *testing.T, name string, make Make) {
	t.Parallel()
	s := newSession(t, installed(t, name), make)
	server := s.serve(t, modeltest.Script{Turns: []modeltest.Turn{
		modeltest.Do(modeltest.Run("sh -c 'echo hello >hello.txt'")),
		modeltest.Do(modeltest.Run("sh -c 'echo bye >bye.txt'")),
		modeltest.Say(written),
	}})
	var asked []agent.Question
	task := s.task(server.URL)
	task.Idle = quiet
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
	if !subjects("hello.txt") || !subjects("bye.txt") || len(asked) > 4 {
		t.Errorf("it asked %+v", asked)
	}
	_, hello := os.Stat(filepath.Join(s.work, "hello.txt"))
	if _, bye := os.Stat(filepath.Join(s.work, "bye.txt")); hello != nil || bye == nil {
		t.Errorf("what it was allowed: %v; what it was not: %v", hello, bye)
	}
	s.asked(t, server)
	s.goesOnAsking(t, result.Conversation)
}

// goesOnAsking has the conversation gone on with in the same way, as after a crash.
func (s *session) goesOnAsking(t *testing.T, c *agent.Conversation) {
	t.Helper()
	server := s.serve(t, modeltest.Script{Turns: []modeltest.Turn{modeltest.Say("Still there.")}})
	task := s.task(server.URL)
	task.Prompt, task.Conversation = "Is it there?", c
	result := s.run(t, agent.Ask, task)
	if result.Failure != nil || result.Answer != "Still there." || result.Conversation == nil || c == nil || result.Conversation.ID != c.ID {
		t.Errorf("answer %q in %+v after %+v\n%s", result.Answer, result.Conversation, c, s.log.String())
	}
	for _, x := range server.Answers() {
		if len(x.Conversation.Tools) > 0 && !strings.Contains(string(x.Body), prompt) && x.Size == len(x.Body) {
			t.Errorf("request %d does not go on with the conversation", x.Number)
		}
	}
}
