package opencode_test

import (
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/agent/opencode"
)

func TestMain(m *testing.M) {
	agenttest.Main(m, protocol)
}

// protocol is opencode's, as far as the suite needs it.
var protocol = agenttest.Protocol{
	Say: func(text string) string {
		return encoded("step_start", nil) + encoded("text", map[string]any{"text": text}) + encoded("step_finish", map[string]any{"reason": "tool-calls"})
	},
	Answer: func(text string) string {
		return encoded("step_start", nil) + encoded("text", map[string]any{"text": text}) + encoded("step_finish", map[string]any{"reason": "stop"})
	},
	Asks: fake.Asks, EndsTalk: fake.EndsTalk,
}

func encoded(kind string, part map[string]any) string {
	return agenttest.Line(map[string]any{"type": kind, "sessionID": "ses_1", "part": part})
}

var driver = agenttest.Driver{Name: "opencode", Conversation: session, New: agenttest.New(opencode.New), Reader: opencode.NewReader,
	Asks: true, Dialogue: opencode.NewTalk, Model: "anthropic/m1"}

func TestConformance(t *testing.T) {
	t.Parallel()
	driver.Conforms(t)
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
		{name: "a login of its own", settings: agent.Settings{Permissions: agent.Everything}, config: []string{`"permission":{"*":"allow"}`, `"instructions":["AGENTS.md","CLAUDE.md"]`}, without: "provider"},
		{name: "the project's settings", settings: agent.Settings{Permissions: agent.Everything, ProjectSettings: true}, without: "instructions"},
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
			got := driver.CommandLine(t, test.settings, test.task, append([]string{"run", "--format=json", "--print-logs", "--log-level=WARN"}, test.args...)...)
			config := variable(got.Env, "OPENCODE_CONFIG_CONTENT")
			for _, part := range append(test.config, `"agent":{"title":{"disable":true}}`) {
				if !strings.Contains(config, part) {
					t.Errorf("config %s lacks %s", config, part)
				}
			}
			if strings.Contains(config, at.Key) || test.without != "" && strings.Contains(config, test.without) {
				t.Errorf("config %s", config)
			}
			if left := variable(got.Env, "OPENCODE_DISABLE_PROJECT_CONFIG") != ""; left == test.settings.ProjectSettings {
				t.Errorf("Env = %q", got.Env)
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
	driver.WantsProvider(t)
}
