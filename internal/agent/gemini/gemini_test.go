package gemini_test

import (
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/agent/gemini"
)

func TestMain(m *testing.M) {
	agenttest.Main(m, protocol)
}

// protocol is Gemini CLI's, as far as the suite needs it.
var protocol = agenttest.Protocol{
	Say: func(text string) string {
		return said(text) + agenttest.Line(map[string]any{"type": "tool_use", "tool_name": "t"})
	},
	Answer: func(text string) string {
		return said(text) + agenttest.Line(map[string]any{"type": "result", "status": "success"})
	},
	Asks: fake.Asks, EndsTalk: fake.EndsTalk,
}

func said(text string) string {
	return agenttest.Line(map[string]any{"type": "message", "role": "assistant", "content": text, "delta": true})
}

var driver = agenttest.Driver{Name: "gemini", Conversation: session, New: agenttest.New(gemini.New), Reader: gemini.NewReader,
	Asks: true, Dialogue: gemini.NewTalk, Model: "m1"}

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
	}{
		{name: "a login of its own", settings: agent.Settings{Permissions: agent.Everything}, args: []string{"--approval-mode=yolo"}},
		{name: "an endpoint", settings: agent.Settings{Permissions: agent.Edits, Model: "gemini-2.5-pro", Args: []string{"--debug"}}, task: agent.Task{Endpoint: at},
			args: []string{"--approval-mode=auto_edit", "--model=gemini-2.5-pro", "--debug"}},
		{name: "a conversation", settings: agent.Settings{Permissions: agent.ReadOnly}, task: agent.Task{Conversation: &agent.Conversation{ID: "0-a"}},
			args: []string{"--approval-mode=plan", "--resume=0-a"}},
		{name: "what is no conversation's id", settings: agent.Settings{Permissions: agent.ReadOnly}, task: agent.Task{Conversation: &agent.Conversation{ID: "--help"}},
			args: []string{"--approval-mode=plan"}},
		{name: "one that asks trusts no folder", settings: agent.Settings{Permissions: agent.Ask}, task: agent.Task{Conversation: &agent.Conversation{ID: "0-a"}},
			args: []string{"--approval-mode=default"}},
		{name: "but one whose settings count", settings: agent.Settings{Permissions: agent.Ask, ProjectSettings: true}, args: []string{"--approval-mode=default"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			want := append([]string{"--output-format=stream-json"}, test.args...)
			if test.settings.Permissions == agent.Ask {
				want[0] = "--acp"
			}
			got := driver.CommandLine(t, test.settings, test.task, want...)
			all, env := strings.Join(got.Args, " "), strings.Join(got.Env, " ")
			if trusts := test.settings.Permissions != agent.Ask || test.settings.ProjectSettings; strings.Contains(env, "GEMINI_CLI_TRUST_WORKSPACE=true") != trusts {
				t.Errorf("Env = %q", got.Env)
			}
			if !strings.Contains(env, "GEMINI_CLI_NO_RELAUNCH=true") {
				t.Errorf("Env = %q: it starts itself twice", got.Env)
			}
			led := test.task.Endpoint != nil
			for _, part := range []string{"GEMINI_API_KEY=" + at.Key, "GOOGLE_GEMINI_BASE_URL=" + at.URL, "GOOGLE_API_KEY= "} {
				if strings.Contains(env, part) != led {
					t.Errorf("Env = %q, with %q %t", got.Env, part, !led)
				}
			}
			for _, part := range []string{`"selectedType": "gemini-api-key"`, `"sessionRetention": {"enabled": false}`} {
				if strings.Contains(all, part) != led {
					t.Errorf("Args = %q, with %q %t", got.Args, part, !led)
				}
			}
		})
	}
}
