package opencode_test

import (
	"slices"
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/acp/acptest"
	"signalbox/internal/agent/agenttest"
)

// fake is a program that tells a tool's whole input, and ends its turn without a word where it is denied.
var fake = acptest.Program{Tool: "bash", Use: func(_ int, command string) map[string]any {
	return map[string]any{"toolCallId": "c1", "title": "bash", "rawInput": map[string]any{"command": command}}
}}

func TestEachQuestionIsAnsweredInTheProgramsProtocol(t *testing.T) {
	t.Parallel()
	program := &acptest.Talking{Stream: agenttest.RecordedTalk(t, "asked")}
	talk := driver.Talk(t, program, agent.Task{}, agent.Answer{Verdict: agent.Allowed}, agent.Answer{Verdict: agent.Allowed}, agent.Answer{Verdict: agent.Denied, Text: "Stay."})
	if talk.Failure != nil || talk.Answer != "It is done." || !slices.Equal(talk.Denied, []string{"bash"}) || talk.Conversation == nil || len(talk.Asked) != 3 {
		t.Fatalf("%+v", talk)
	}
	wants := [][2]string{{"bash", "sh -c 'echo hello >hello.txt'"}, {"write", "b.txt"}, {"bash", "sh -c 'echo bye >bye.txt'"}}
	for i, want := range wants {
		if q := talk.Asked[i]; q.Tool != want[0] || q.Subject != want[1] || q.Altered {
			t.Errorf("question %d is %+v, want %q", i, q, want)
		}
	}
	acptest.CheckToldWhy(t, program, "bash", "Stay.")
	if got := talk.Kinds(); strings.Count(got, "tool_call ") != 3 || strings.Count(got, "permission_asked") != 3 || !strings.HasPrefix(got, "begin ") {
		t.Errorf("entries %s", got)
	}
}

func TestAModelErrorIsAFailureInAConversationToo(t *testing.T) {
	t.Parallel()
	const number = -32603
	opened := acptest.Responds(1, map[string]any{})
	for _, test := range []struct {
		name, stream string
		resumed      *agent.Conversation
		code         agent.FailureCode
	}{
		{"a key that is none", acptest.Opens("ses_1") + acptest.Fails(3, number, "Internal error: invalid x-api-key", nil), nil, agent.Unauthorized},
		{"a conversation that is lost", opened + acptest.Fails(2, number, "Internal error: OpenCode service failure", nil), &agent.Conversation{ID: "ses_1"}, agent.Lost},
		{"no session", acptest.Opens("--help"), nil, agent.Crashed},
		{"an answer that is cut off", acptest.Opens("ses_1") + acptest.Responds(3, map[string]any{"stopReason": "max_tokens"}), nil, agent.Crashed},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			talk := driver.Talk(t, &acptest.Talking{Stream: test.stream}, agent.Task{Conversation: test.resumed})
			agenttest.CheckFailure(t, talk.Result, test.code, "")
		})
	}
}

func FuzzTalk(f *testing.F) {
	driver.TalksAnything(f, acptest.Responds(1, map[string]any{})+`{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"toolCall":{"rawInput":7},"options":3}}`, fake.EndsTalk("x"), agenttest.RecordedTalk(f, "asked"))
}
