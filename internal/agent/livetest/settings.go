package livetest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
)

// LeavesOut checks that a driver starts no program that a repository configures for its agent, and still gives the agent the repository's
// instructions. The program must speak to its model in api. Files are the repository's; MARKS is a folder that only such a program writes to, and
// WORDS is the text of the instructions.
func LeavesOut(t *testing.T, name string, api modeltest.API, files map[string]string, make Make) {
	t.Parallel()
	s, marks := newSession(t, installed(t, name), make), t.TempDir()
	const words = "Mention the heliograph."
	told := true
	for path, text := range files {
		told = told && !strings.Contains(text, "WORDS")
		path = filepath.Join(s.work, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.NewReplacer("MARKS", marks, "WORDS", words).Replace(text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := s.serve(t, modeltest.Script{Turns: []modeltest.Turn{modeltest.Do(modeltest.Write("hello.txt", "hello\n")), modeltest.Say(written)}})
	task := s.task(server.URL)
	task.Ask = func(context.Context, agent.Question) (agent.Answer, error) {
		return agent.Answer{Verdict: agent.Allowed}, nil
	}
	if result := s.run(t, agent.Everything, task); result.Failure != nil || result.Answer != written {
		t.Errorf("answer %q, Failure = %+v\n%s", result.Answer, result.Failure, s.log.String())
	}
	s.asked(t, server)
	if started, err := os.ReadDir(marks); err != nil || len(started) > 0 {
		t.Errorf("programs of the repository started: %v, %v", started, err)
	}
	for _, x := range server.Answers() {
		told = told || strings.Contains(string(x.Body), words)
		if x.Conversation.API != api {
			t.Errorf("request %d is one of %s, want %s", x.Number, x.Conversation.API, api)
		}
	}
	if !told {
		t.Error("the model never saw the repository's instructions")
	}
}
