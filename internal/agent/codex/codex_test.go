package codex_test

import (
	"slices"
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/agent/codex"
)

func TestMain(m *testing.M) {
	agenttest.Main(m, protocol)
}

// protocol is Codex's, as far as the suite needs it.
var protocol = agenttest.Protocol{
	Say: said,
	Answer: func(text string) string {
		return said(text) + agenttest.Line(map[string]any{"type": "turn.completed", "usage": map[string]any{"input_tokens": 1}})
	},
	Asks: asks, EndsTalk: endsTalk,
}

func said(text string) string {
	return agenttest.Line(map[string]any{"type": "item.completed", "item": map[string]any{"id": "item_1", "type": "agent_message", "text": text}})
}

var driver = agenttest.Driver{Name: "codex", Conversation: session, New: agenttest.New(codex.New), Reader: codex.NewReader, CountsOn: true,
	Asks: true, Dialogue: codex.NewAsking, Model: "gpt-5"}

func TestConformance(t *testing.T) {
	t.Parallel()
	driver.Conforms(t)
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	const (
		settings = "-c check_for_update_on_startup=false -c analytics.enabled=false -c features.unbounded_connection_retries=false "
		quiet    = "--json --skip-git-repo-check " + settings
		talking  = "app-server " + settings + "-c features.unified_exec_tty=false -c features.default_mode_request_user_input=true -c suppress_unstable_features_warning=true "
		bypass   = "--dangerously-bypass-approvals-and-sandbox "
		provider = `-c features.plugins=false -c model_provider="signalbox" -c model_providers.signalbox={name="signalbox",base_url="http://127.0.0.1:8080/s7/v1",` +
			`env_key="SIGNALBOX_MODEL_KEY",wire_api="responses",request_max_retries=0,stream_max_retries=1,stream_idle_timeout_ms=600000} `
	)
	for _, test := range []struct {
		name     string
		settings agent.Settings
		task     agent.Task
		args     string
		env      string
	}{
		{name: "a login of its own", settings: agent.Settings{Permissions: agent.Everything}, args: "exec " + quiet + bypass + "-", env: "TZ=UTC"},
		{name: "an endpoint", settings: agent.Settings{Permissions: agent.ReadOnly, Model: "gpt-5", Args: []string{"--ephemeral"}},
			task: agent.Task{Endpoint: &agent.Endpoint{URL: "http://127.0.0.1:8080/s7", Key: "sk-session"}},
			args: "exec " + quiet + `-c approval_policy="never" -c sandbox_mode="read-only" ` + "--ignore-user-config " + provider + "--model=gpt-5 --ephemeral -", env: "SIGNALBOX_MODEL_KEY=sk-session"},
		{name: "a conversation keeps its sandbox", settings: agent.Settings{Permissions: agent.Edits},
			task: agent.Task{Conversation: &agent.Conversation{ID: "0-a"}},
			args: "exec resume " + quiet + `-c approval_policy="never" -c sandbox_mode="workspace-write" 0-a -`, env: "TZ=UTC"},
		{name: "questions", settings: agent.Settings{Permissions: agent.Ask, Model: "gpt-5", Args: []string{"--strict-config"}},
			task: agent.Task{Endpoint: &agent.Endpoint{URL: "http://127.0.0.1:8080/s7", Key: "sk-session"}, Conversation: &agent.Conversation{ID: "0-a"}},
			args: talking + provider + "--strict-config", env: "SIGNALBOX_MODEL_KEY=sk-session"},
		{name: "questions, and the project's settings", settings: agent.Settings{Permissions: agent.Ask, ProjectSettings: true}, task: agent.Task{Dir: "/w \"x"},
			args: talking + `-c projects={"/w \"x"={trust_level="trusted"}}`, env: "TZ=UTC"},
		{name: "what is no conversation's id", settings: agent.Settings{Permissions: agent.Everything},
			task: agent.Task{Conversation: &agent.Conversation{ID: "--last"}}, args: "exec " + quiet + bypass + "-", env: "TZ=UTC"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.settings.Program = "/opt/" + agenttest.MissingProgram
			got := driver.Command(t, test.settings, test.task)
			args := strings.Join(got.Args, " ")
			if want := test.settings.Program + " " + test.args; args != want {
				t.Errorf("Args = %s\nwant   %s", args, want)
			}
			if !slices.Contains(got.Env, test.env) || strings.Contains(args, "sk-session") {
				t.Errorf("Env = %q lacks %q, or the key is an argument", got.Env, test.env)
			}
		})
	}
}
