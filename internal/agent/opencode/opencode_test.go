package opencode_test

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
	"signalbox/internal/agent/opencode"
	"signalbox/internal/process"
)

func TestMain(m *testing.M) {
	agenttest.Play(protocol)
	os.Exit(m.Run())
}

// protocol is opencode's, as far as the suite needs it.
var protocol = agenttest.Protocol{
	Say: func(text string) string {
		return encoded("step_start", nil) + encoded("text", map[string]any{"text": text}) + encoded("step_finish", map[string]any{"reason": "tool-calls"})
	},
	Answer: func(text string) string {
		return encoded("step_start", nil) + encoded("text", map[string]any{"text": text}) + encoded("step_finish", map[string]any{"reason": "stop"})
	},
	Prompt: func() (string, error) {
		prompt, err := io.ReadAll(os.Stdin)
		return string(prompt), err
	},
}

func encoded(kind string, part map[string]any) string {
	line, err := json.Marshal(map[string]any{"type": kind, "sessionID": "ses_1", "part": part})
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

func newAgent(t *testing.T, settings agent.Settings) *opencode.Agent {
	t.Helper()
	a, err := opencode.New(settings)
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
		config   []string // parts of it
		without  string
	}{
		{name: "a login of its own", settings: agent.Settings{Permissions: agent.Everything}, config: []string{`"permission":{"*":"allow"}`}, without: "provider"},
		{name: "an endpoint for Anthropic's", settings: agent.Settings{Permissions: agent.Edits, Model: "anthropic/claude", Args: []string{"--variant", "high"}},
			task: agent.Task{Endpoint: at}, args: []string{"--model=anthropic/claude", "--variant", "high"},
			config: []string{`"npm":"@ai-sdk/anthropic"`, `"baseURL":"http://127.0.0.1:8080/s7/v1"`, `"small_model":"anthropic/claude"`, `"enabled_providers":["anthropic"]`, `"bash":"deny"`}},
		{name: "an endpoint for any other", settings: agent.Settings{Permissions: agent.ReadOnly, Model: "a/b/c"}, task: agent.Task{Endpoint: at},
			args: []string{"--model=a/b/c"}, config: []string{`"npm":"@ai-sdk/openai-compatible"`, `"models":{"b/c":`, `"*":"deny"`}},
		{name: "a conversation", settings: agent.Settings{Permissions: agent.Everything}, task: agent.Task{Conversation: &agent.Conversation{ID: "ses_1"}}, args: []string{"--session=ses_1"}},
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
			want := append([]string{test.settings.Program, "run", "--format=json", "--print-logs", "--log-level=WARN"}, test.args...)
			if !slices.Equal(got.Args, want) {
				t.Errorf("Args = %q, want %q", got.Args, want)
			}
			config := variable(got.Env, "OPENCODE_CONFIG_CONTENT")
			for _, part := range test.config {
				if !strings.Contains(config, part) {
					t.Errorf("config %s lacks %s", config, part)
				}
			}
			if strings.Contains(config, at.Key) || test.without != "" && strings.Contains(config, test.without) {
				t.Errorf("config %s", config)
			}
			key, plugins := "", ""
			if test.task.Endpoint != nil {
				key, plugins = at.Key, "1"
			}
			if variable(got.Env, "SIGNALBOX_MODEL_KEY") != key || variable(got.Env, "OPENCODE_DISABLE_DEFAULT_PLUGINS") != plugins {
				t.Errorf("Env = %q", got.Env)
			}
		})
	}
}

func variable(env []string, name string) string {
	for _, variable := range env {
		if value, ok := strings.CutPrefix(variable, name+"="); ok {
			return value
		}
	}
	return ""
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
