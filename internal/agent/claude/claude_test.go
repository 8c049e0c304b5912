package claude_test

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/agent/claude"
)

func TestMain(m *testing.M) {
	agenttest.Main(m, protocol)
}

// protocol is Claude Code's, as far as the suite needs it.
var protocol = agenttest.Protocol{
	Say: func(text string) string {
		return agenttest.Line(map[string]any{"type": "assistant", "message": map[string]any{"id": "m1", "content": []any{map[string]any{"type": "text", "text": text}}}})
	},
	Answer: func(text string) string {
		return agenttest.Line(map[string]any{"type": "result", "subtype": "success", "is_error": false, "terminal_reason": "completed", "result": text})
	},
	Asks: asks,
}

// asks is a fake's talk of permissions.
func asks(in *bufio.Reader, out io.Writer, deaf int, commands ...string) (told []string) {
	_, _ = in.ReadBytes('\n') // the prompt
	for i, command := range commands {
		_, _ = io.WriteString(out, agenttest.Line(map[string]any{"type": "control_request", "request_id": command, "request": map[string]any{
			"subtype": "can_use_tool", "tool_name": "Bash", "input": map[string]any{"command": command}}}))
		if i == deaf {
			return told
		}
		var answer struct {
			Response struct {
				ID       string `json:"request_id"`
				Response struct {
					Behavior, Message string
					UpdatedInput      struct{ Command string } `json:"updatedInput"`
				}
			}
		}
		line, err := in.ReadBytes('\n')
		if err != nil || json.Unmarshal(line, &answer) != nil || answer.Response.ID != command {
			return append(told, "nothing that can be read: "+string(line))
		}
		said := answer.Response.Response
		switch {
		case said.Behavior == "deny":
			told = append(told, "deny: "+said.Message)
		case said.UpdatedInput.Command == command:
			told = append(told, said.Behavior)
		}
	}
	return told
}

var driver = agenttest.Driver{Name: "claude", Conversation: session, New: agenttest.New(claude.New), Reader: claude.NewReader, CountsOn: true, Asks: true, Dialogue: claude.NewAsking}

func TestConformance(t *testing.T) {
	t.Parallel()
	driver.Conforms(t)
}

var usersOwn = []string{"--setting-sources=user", "--strict-mcp-config", "--add-dir=."}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	at := &agent.Endpoint{URL: "http://127.0.0.1:8080/s7", Key: "sk-session"}
	for _, test := range []struct {
		name     string
		settings agent.Settings
		task     agent.Task
		args     []string
		env      []string
		notEnv   string
	}{
		{name: "a login of its own", settings: agent.Settings{Permissions: agent.Everything},
			args: slices.Concat([]string{"--dangerously-skip-permissions"}, usersOwn), env: []string{"IS_SANDBOX=1", "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD=1"}, notEnv: "ANTHROPIC_"},
		{name: "the project's settings", settings: agent.Settings{Permissions: agent.Everything, ProjectSettings: true},
			args: []string{"--dangerously-skip-permissions"}, notEnv: "ADDITIONAL_DIRECTORIES"},
		{name: "an endpoint", settings: agent.Settings{Permissions: agent.Edits, Model: "opus", Args: []string{"--max-turns", "9"}},
			task: agent.Task{Endpoint: at}, args: slices.Concat([]string{"--permission-mode=acceptEdits"}, usersOwn, []string{"--model=opus", "--max-turns", "9"}),
			env: []string{"ANTHROPIC_BASE_URL=http://127.0.0.1:8080/s7", "ANTHROPIC_API_KEY=sk-session", "CLAUDE_CODE_OAUTH_TOKEN="}},
		{name: "a conversation", settings: agent.Settings{Permissions: agent.ReadOnly},
			task: agent.Task{Conversation: &agent.Conversation{ID: "0-a"}},
			args: slices.Concat([]string{"--permission-mode=default", "--disallowedTools=Edit,Write,NotebookEdit"}, usersOwn, []string{"--resume=0-a"})},
		{name: "questions", settings: agent.Settings{Permissions: agent.Ask},
			args: slices.Concat([]string{"--permission-mode=default", "--permission-prompt-tool=stdio", "--input-format=stream-json"}, usersOwn)},
		{name: "what is no conversation's id", settings: agent.Settings{Permissions: agent.Everything},
			task: agent.Task{Conversation: &agent.Conversation{ID: "--help"}}, args: slices.Concat([]string{"--dangerously-skip-permissions"}, usersOwn)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := driver.CommandLine(t, test.settings, test.task, append([]string{"--print", "--output-format=stream-json", "--verbose"}, test.args...)...)
			for _, variable := range test.env {
				if !slices.Contains(got.Env, variable) {
					t.Errorf("Env = %q lacks %q", got.Env, variable)
				}
			}
			if test.notEnv != "" && strings.Contains(strings.Join(got.Env, " "), test.notEnv) {
				t.Errorf("Env = %q has %q", got.Env, test.notEnv)
			}
		})
	}
}
