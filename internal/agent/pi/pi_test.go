package pi_test

import (
	"slices"
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/agent/pi"
)

func TestMain(m *testing.M) {
	agenttest.Main(m, protocol)
}

// protocol is pi's, as far as the suite needs it.
var protocol = agenttest.Protocol{
	Say: func(text string) string { return said(text, "toolUse") },
	Answer: func(text string) string {
		return said(text, "stop") + "{\"type\":\"agent_end\"}\n"
	},
}

func said(text, reason string) string {
	return agenttest.Line(map[string]any{"type": "message_end", "message": map[string]any{"role": "assistant", "stopReason": reason,
		"content": []any{map[string]any{"type": "text", "text": text}}}})
}

var driver = agenttest.Driver{Name: "pi", Conversation: session, New: agenttest.New(pi.New), Reader: pi.NewReader}

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
			got := driver.CommandLine(t, test.settings, test.task, append([]string{"--print", "--mode", "json"}, test.args...)...)
			if test.models != "" && !slices.Contains(got.Args, test.models) {
				t.Errorf("Args = %q lack the models %s", got.Args, test.models)
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
	driver.WantsProvider(t)
}
