package codex_test

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/agent/jsonrpc/jsonrpctest"
	"signalbox/internal/agent/modeltest"
)

// Messages to the program: params belong to a request, result to a response.
type (
	params struct {
		ThreadID string                  `json:"threadId"`
		Turn     string                  `json:"expectedTurnId"`
		Policy   string                  `json:"approvalPolicy"`
		Cwd      string                  `json:"cwd"`
		Input    []struct{ Text string } `json:"input"`
	}
	result struct {
		Decision string                                `json:"decision"`
		Action   string                                `json:"action"`
		Answers  map[string]struct{ Answers []string } `json:"answers"`
	}
	message = jsonrpctest.Message[params, result]
	talking = jsonrpctest.Talking[params, result]
)

func heard(in *bufio.Reader) message { return jsonrpctest.Heard[message](in) }

func responds(out io.Writer, id int, result any) {
	_, _ = io.WriteString(out, agenttest.Line(map[string]any{"id": id, "result": result}))
}

func opens() map[string]any {
	return map[string]any{"thread": map[string]string{"id": session}, "model": "gpt-5", "approvalPolicy": "untrusted"}
}

// begins a fake's talk, up to its turn.
func beginsTalk(in *bufio.Reader, out io.Writer) {
	responds(out, heard(in).ID, map[string]any{})
	heard(in) // that it is initialized
	responds(out, heard(in).ID, opens())
	responds(out, heard(in).ID, map[string]any{})
}

func wants(method string, id any, params map[string]any) string {
	params["threadId"], params["turnId"] = session, "t1"
	return agenttest.Line(map[string]any{"id": id, "method": method, "params": params})
}

func wantsCommand(id any, command string) string {
	quoted := "'" + strings.ReplaceAll(command, "'", `'"'"'`) + "'"
	return wants("item/commandExecution/requestApproval", id, map[string]any{"kind": "command", "itemId": "c1", "command": "/bin/bash -lc " + quoted})
}

// asks is a fake's talk of permissions.
func asks(in *bufio.Reader, out io.Writer, deaf int, commands ...string) (told []string) {
	beginsTalk(in, out)
	for i, command := range commands {
		_, _ = io.WriteString(out, wantsCommand(i, command))
		if i == deaf {
			return told
		}
		m, why := heard(in), ""
		if m.Method == "turn/steer" {
			_, why, _ = strings.Cut(m.Params.Input[0].Text, "command_execution: ")
			responds(out, m.ID, map[string]any{})
			m = heard(in)
		}
		switch {
		case m.Method != "" || m.ID != i:
			told = append(told, fmt.Sprintf("nothing of request %d: %+v", i, m))
		case m.Result.Decision == "accept":
			told = append(told, "allow")
		default:
			told = append(told, "deny: "+why)
		}
	}
	return told
}

func tells(method string, params map[string]any) string {
	params["threadId"] = session
	return agenttest.Line(map[string]any{"method": method, "params": params})
}

func endsTalk(text string) string {
	return tells("item/completed", map[string]any{"item": map[string]any{"type": "agentMessage", "id": "m1", "text": text}}) +
		tells("turn/completed", map[string]any{"turn": map[string]any{"status": "completed"}})
}

// talk runs the driver with a talk and the answers to what is asked in it.
func talk(t *testing.T, stream string, resumed *agent.Conversation, answers ...agent.Answer) (agenttest.Talk, *talking) {
	t.Helper()
	p := &talking{Stream: stream}
	return driver.Talk(t, p, agent.Task{Conversation: resumed}, answers...), p
}

// opened is the beginning of a talk.
var opened = agenttest.Line(map[string]any{"id": 1, "result": map[string]any{}}) + agenttest.Line(map[string]any{"id": 2, "result": opens()})

func TestEachQuestionIsAnsweredInTheProgramsProtocol(t *testing.T) {
	t.Parallel()
	result, p := talk(t, agenttest.RecordedTalk(t, "asked"), nil, agent.Answer{Verdict: agent.Allowed}, agent.Answer{Verdict: agent.Denied, Text: "Not now."},
		agent.Answer{Verdict: agent.Chosen, Option: 1}, agent.Answer{Verdict: agent.Replied, Text: "Zoe"})
	if result.Failure != nil || result.Answer != "It is written." || !slices.Equal(result.Denied, []string{"command_execution"}) || result.Conversation.ID != session || len(result.Asked) != 5 {
		t.Fatalf("%+v, failure %+v", result, result.Failure)
	}
	if want := (agent.Usage{InputTokens: 6000, CachedTokens: 1000, OutputTokens: 150}); result.Usage != want || result.Conversation.Usage != want {
		t.Errorf("Usage = %+v, %+v", result.Usage, result.Conversation.Usage)
	}
	for i, want := range []agent.Question{
		{ID: "1", Kind: agent.Permission, Tool: "command_execution", Subject: "cd /usr/lib && ls", Text: "cd /usr/lib && ls"},
		{ID: "2", Kind: agent.Permission, Tool: "command_execution", Subject: "go vet ./...", Text: "go vet ./..."},
		{ID: "3", Kind: agent.Choice, Tool: "request_user_input", Text: "Which colour?", Options: []string{"Red (Recommended): like blood", "Blue: like the sky"}},
		{ID: "4", Kind: agent.Choice, Tool: "request_user_input", Text: "Which name?", Options: []string{"Ann", "Ben"}},
		{ID: "5", Kind: agent.Permission, Tool: "file_change", Subject: "hello.txt", Text: "add hello.txt\nhello"},
	} {
		if got := fmt.Sprintf("%+v", result.Asked[i]); got != fmt.Sprintf("%+v", want) {
			t.Errorf("question %d is %s, want %+v", i, got, want)
		}
	}
	steered := p.Requests("turn/steer")
	if p.Response(0).Result.Decision != "accept" || p.Response(1).Result.Decision != "decline" || p.Response(3).Result.Decision != "accept" ||
		len(steered) != 1 || steered[0].Params.Input[0].Text != "You were not allowed to use command_execution: Not now." || steered[0].Params.Turn == "" {
		t.Errorf("it was told %+v", p.Told)
	}
	if got := fmt.Sprint(p.Response(2).Result.Answers); got != "map[colour:{[Blue]} name:{[Zoe]}]" {
		t.Errorf("it was answered %s", got)
	}
	const kinds = "begin tool_call permission_asked tool_result message tool_call permission_asked permission_denied tool_result " +
		"question_asked question_asked tool_call permission_asked tool_result message usage end"
	if got := result.Kinds(); got != kinds {
		t.Errorf("entries %s\nwant    %s", got, kinds)
	}
}

func TestTheAgentMustAskAboutEverythingInItsFolder(t *testing.T) {
	t.Parallel()
	for method, resumed := range map[string]*agent.Conversation{"thread/start": nil, "thread/resume": {ID: session}} {
		_, p := talk(t, opened+endsTalk("x"), resumed)
		found := p.Requests(method)
		if len(found) != 1 || found[0].Params.Policy != "untrusted" || found[0].Params.Cwd != "" || resumed != nil && found[0].Params.ThreadID != session {
			t.Errorf("%s: it was told %+v", method, p.Told)
		}
	}
}

// Errors of the model are reported in the same way, and mean the same.
func TestErrorsInATalkAreThoseOfACommand(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"unauthorized", "rate-limited", "usage-limited", "server-error", "overloaded", "overflow", "cut", "ended", "refused"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, _ := driver.Replay(t, agenttest.Recorded(modeltest.Recorded(t, "codex", name)), nil)
			got, _ := talk(t, agenttest.RecordedTalk(t, name), nil)
			if got.Failure == nil || got.Failure.Code != want.Failure.Code || !got.Failure.Until.Equal(want.Failure.Until) || !strings.HasSuffix(want.Failure.Message, got.Failure.Message) {
				t.Errorf("Failure = %+v, want %+v", got.Failure, want.Failure)
			}
			if kinds := got.Kinds(); !strings.HasSuffix(kinds, " error end") || strings.Count(kinds, "error") != 1 {
				t.Errorf("entries %s", kinds)
			}
			if got.Conversation == nil || got.Conversation.ID != session {
				t.Errorf("Conversation = %+v", got.Conversation)
			}
		})
	}
}

func TestATalkThatComesToNothing(t *testing.T) {
	t.Parallel()
	fails := func(id int, message string) string {
		return agenttest.Line(map[string]any{"id": id, "error": map[string]any{"code": -32600, "message": message}})
	}
	first, second, _ := strings.Cut(opened, "\n")
	first += "\n"
	for _, test := range []struct {
		name, stream string
		resumed      *agent.Conversation
		code         agent.FailureCode
		message      string
	}{
		{"a conversation that is lost", first + fails(2, "no rollout found for thread id 7"), &agent.Conversation{ID: session}, agent.Lost, "no rollout found"},
		{"one that does not ask", first + strings.Replace(second, "untrusted", "never", 1), nil, agent.Unavailable, `policy "never"`},
		{"no conversation", first + strings.Replace(second, session, "--help", 1), nil, agent.Crashed, "did not open a conversation"},
		{"one that knows no such talk", fails(1, "unknown method"), nil, agent.Crashed, "unknown method"},
		{"a turn that is not begun", opened + fails(3, "Missing environment variable: `X`."), nil, agent.Unauthorized, "Missing environment"},
		{"a turn that is broken off", opened + tells("turn/completed", map[string]any{"turn": map[string]any{"status": "interrupted"}}), nil, agent.Crashed, "interrupted"},
		{"a turn that failed without words", opened + tells("turn/completed", map[string]any{"turn": map[string]any{"status": "failed"}}), nil, agent.Crashed, "the turn failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result, _ := talk(t, test.stream, test.resumed)
			agenttest.CheckFailure(t, result.Result, test.code, test.message)
		})
	}
}

func TestUsageInATalkDoesNotBecomeLess(t *testing.T) {
	t.Parallel()
	counts := func(input int64) string {
		return tells("thread/tokenUsage/updated", map[string]any{"tokenUsage": map[string]any{"total": map[string]any{"inputTokens": input}}})
	}
	for name, test := range map[string]struct {
		stream    string
		used, now int64
	}{
		"counted on":                    {counts(100) + counts(180), 80, 180},
		"of one that does not":          {counts(30) + counts(180), 180, 280},
		"of what became too long":       {counts(180) + counts(0), 80, 180},
		"of a conversation with itself": {counts(180) + strings.Replace(counts(999), session, "other", 1), 80, 180},
		"never told":                    {"", 0, 100},
	} {
		result, _ := talk(t, opened+test.stream+endsTalk("x"), &agent.Conversation{ID: session, Usage: agent.Usage{InputTokens: 100}})
		if result.Usage.InputTokens != test.used || result.Conversation.Usage.InputTokens != test.now {
			t.Errorf("%s: Usage = %+v of %+v, want %d of %d", name, result.Usage, result.Conversation.Usage, test.used, test.now)
		}
	}
}

func FuzzTalk(f *testing.F) {
	driver.TalksAnything(f, agenttest.RecordedTalk(f, "asked"), opened+wantsCommand(0, "ls")+wantsCommand("x", "ls")+endsTalk("x"),
		`{"id":2,"result":{"thread":7}}`+"\n"+`{"id":[],"method":"item/fileChange/requestApproval","params":{"itemId":1}}`,
		tells("item/started", map[string]any{"item": map[string]any{"type": "fileChange", "changes": []any{3, map[string]any{"kind": 4}}}}),
		wants("item/tool/requestUserInput", 1, map[string]any{"questions": []any{map[string]any{"id": "a", "options": []any{1}}, 2}}))
}
