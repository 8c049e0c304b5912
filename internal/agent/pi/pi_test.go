package pi_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/agent/pi"
	"signalbox/internal/process"
)

func TestMain(m *testing.M) {
	agenttest.Play(protocol)
	os.Exit(m.Run())
}

// protocol is pi's, as far as the suite needs it.
var protocol = agenttest.Protocol{
	Say: func(text string) string { return said(text, "toolUse") },
	Answer: func(text string) string {
		return said(text, "stop") + "{\"type\":\"agent_end\"}\n"
	},
	Prompt: func() (string, error) {
		prompt, err := io.ReadAll(os.Stdin)
		return string(prompt), err
	},
}

func said(text, reason string) string {
	line, err := json.Marshal(map[string]any{"type": "message_end", "message": map[string]any{"role": "assistant", "stopReason": reason,
		"content": []any{map[string]any{"type": "text", "text": text}}}})
	if err != nil {
		panic(err)
	}
	return string(line) + "\n"
}

func TestConformance(t *testing.T) {
	t.Parallel()
	agenttest.Run(t, agenttest.Harness{
		Exec:  process.Host{},
		Dir:   func(t *testing.T) string { return t.TempDir() },
		Agent: func(t *testing.T, b agenttest.Behavior) agent.Agent { return newAgent(t, agenttest.Fake(t, b)) },
	})
}

func newAgent(t *testing.T, settings agent.Settings) *pi.Agent {
	t.Helper()
	a, err := pi.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// seen is an executor that keeps what is to be run, and runs nothing.
type seen struct{ process.Command }

func (s *seen) Exec(_ context.Context, c process.Command) (process.Result, error) {
	s.Command = c
	return process.Result{Started: time.Unix(1, 0), Ending: process.Exited}, nil
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	at := &agent.Endpoint{URL: "http://127.0.0.1:8080/s7", Key: "sk-session"}
	for _, test := range []struct {
		name     string
		settings agent.Settings
		task     agent.Task
		args     []string
		models   string
	}{
		{name: "a login of its own", settings: agent.Settings{Permissions: agent.Everything}},
		{name: "an endpoint for a provider that it knows", settings: agent.Settings{Permissions: agent.Edits, Model: "anthropic/claude", Args: []string{"--thinking", "high"}},
			task: agent.Task{Endpoint: at}, args: []string{"--tools", "read,grep,find,ls,edit,write", "--model", "anthropic/claude", "--thinking", "high"},
			models: `{"providers":{"anthropic":{"apiKey":"SIGNALBOX_MODEL_KEY","baseUrl":"http://127.0.0.1:8080/s7"}}}`},
		{name: "an endpoint for any other", settings: agent.Settings{Permissions: agent.ReadOnly, Model: "a/b/c"}, task: agent.Task{Endpoint: at},
			args:   []string{"--tools", "read,grep,find,ls", "--model", "a/b/c"},
			models: `{"providers":{"a":{"api":"openai-completions","apiKey":"SIGNALBOX_MODEL_KEY","baseUrl":"http://127.0.0.1:8080/s7/v1","models":[{"id":"b/c"}]}}}`},
		{name: "a conversation", settings: agent.Settings{Permissions: agent.Everything}, task: agent.Task{Conversation: &agent.Conversation{ID: "0-a"}}, args: []string{"--session", "0-a"}},
		{name: "what is no conversation's id", settings: agent.Settings{Permissions: agent.Everything}, task: agent.Task{Conversation: &agent.Conversation{ID: "--help"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.settings.Name, test.settings.Program = "a", "/opt/"+agenttest.MissingProgram
			test.task.Log = io.Discard
			var got seen
			if _, err := newAgent(t, test.settings).Run(t.Context(), test.task, &got); err != nil {
				t.Fatal(err)
			}
			want := append([]string{test.settings.Program, "--print", "--mode", "json"}, test.args...)
			if at := len(got.Args) - len(want); at < 0 || !slices.Equal(got.Args[at:], want) {
				t.Errorf("Args = %q, want %q", got.Args, want)
			}
			if test.models != "" && !slices.Contains(got.Args, test.models) {
				t.Errorf("Args = %q lack the models %s", got.Args, test.models)
			}
			if strings.Contains(strings.Join(got.Args, " "), at.Key) {
				t.Errorf("Args = %q tell the key", got.Args)
			}
			env := strings.Join(got.Env, " ")
			if led := strings.Contains(env, "SIGNALBOX_MODEL_KEY="+at.Key); led != (test.models != "") || led != strings.Contains(env, "PI_CODING_AGENT_DIR=") {
				t.Errorf("Env = %q", got.Env)
			}
		})
	}
}

func TestEndpointWantsAProvidersModel(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"", "m1", "/m1", "anthropic/"} {
		task := agent.Task{Log: io.Discard, Endpoint: &agent.Endpoint{URL: "http://127.0.0.1:1"}}
		result, err := newAgent(t, agent.Settings{Name: "a", Model: model, Permissions: agent.Edits}).Run(t.Context(), task, &seen{})
		if err != nil {
			t.Fatal(err)
		}
		checkFailure(t, result.Failure, agent.Unavailable, "provider/model")
	}
}
