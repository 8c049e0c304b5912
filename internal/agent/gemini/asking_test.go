package gemini_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/acp/acptest"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/agent/gemini"
)

// counted is the end of a turn for which one answer was counted.
var counted = map[string]any{"_meta": map[string]any{"quota": map[string]any{"token_count": map[string]int{"input_tokens": 10, "output_tokens": 1}}}}

// fake is a program that tells a command by its title, and says something once it is denied.
var fake = acptest.Program{Tool: "run_shell_command", Denied: "Then without.", Result: counted, Use: func(number int, command string) map[string]any {
	return use(fmt.Sprint("run_shell_command__", number), command, "execute", shows("[current working directory /work]"))
}}

func use(call, title, kind string, content ...any) map[string]any {
	return map[string]any{"toolCallId": call, "title": title, "kind": kind, "content": content}
}

func shows(text string) any {
	return map[string]any{"type": "content", "content": map[string]string{"type": "text", "text": text}}
}

func recorded(t *testing.T, name string) *acptest.Talking {
	t.Helper()
	return &acptest.Talking{Stream: agenttest.RecordedTalk(t, name)}
}

func TestEachQuestionIsAnsweredInTheProgramsProtocol(t *testing.T) {
	t.Parallel()
	program := recorded(t, "asked")
	program.Stream += acptest.Says("", "It is done.") + acptest.Ends(4, counted) // to what it is told of the denial
	talk := driver.Talk(t, program, agent.Task{}, agent.Answer{Verdict: agent.Allowed}, agent.Answer{Verdict: agent.Allowed}, agent.Answer{Verdict: agent.Denied, Text: "Stay."})
	if talk.Failure != nil || talk.Answer != "It is done." || !slices.Equal(talk.Denied, []string{"run_shell_command"}) || len(talk.Asked) != 3 ||
		talk.Conversation == nil || talk.Conversation.ID != session || talk.Usage != (agent.Usage{InputTokens: 4810, OutputTokens: 121}) {
		t.Fatalf("%+v", talk)
	}
	wants := [][3]string{{"run_shell_command", "sh -c 'echo hello >hello.txt'", "sh -c 'echo hello >hello.txt'"}, {"write_file", "b.txt", "b.txt\n+x"},
		{"run_shell_command", "sh -c 'echo bye >bye.txt'", "sh -c 'echo bye >bye.txt'"}}
	for i, want := range wants {
		if q := talk.Asked[i]; q.Tool != want[0] || q.Subject != want[1] || q.Text != want[2] || q.Altered {
			t.Errorf("question %d is %+v, want %q", i, q, want)
		}
	}
	for i, want := range []string{"proceed_once", "proceed_once", "cancel"} {
		if got := program.Response(i); got.Result.Outcome.ID != want {
			t.Errorf("answer %d is %+v, want %s", i, got, want)
		}
	}
	acptest.CheckToldWhy(t, program, "run_shell_command", "Stay.")
	if got := talk.Kinds(); strings.Count(got, "tool_call ") != 3 || strings.Count(got, "permission_asked") != 3 || !strings.HasPrefix(got, "begin tool_call") {
		t.Errorf("entries %s", got)
	}
}

// If it does not report the whole input, no policy may allow it.
func TestAQuestionShowsAsMuchAsTheProgramReports(t *testing.T) {
	t.Parallel()
	edit := map[string]any{"type": "diff", "path": "/work/a/b.go", "oldText": "one\ntwo\nthree\n", "newText": "one\n2\nthree\n"}
	for _, test := range []struct {
		name, call, title, kind string
		content                 []any
		tool, subject, text     string
		altered                 bool
	}{
		{"a command in another folder", "run_shell_command__1", "go test ./...", "execute", []any{shows("[in sub/x]")}, "run_shell_command", "cd sub/x && go test ./...", "cd sub/x && go test ./...", false},
		{"a folder in whose name something hides", "run_shell_command__1", "ls", "execute", []any{shows("[in x] && rm -rf]")}, "run_shell_command", "[in x] && rm -rf] ls", "[in x] && rm -rf] ls", false},
		{"a folder with other letters", "run_shell_command__1", "ls", "execute", []any{shows("[in $(id)]")}, "run_shell_command", "[in $(id)] ls", "[in $(id)] ls", false},
		{"an edit", "replace__1", "b.go: two => 2", "edit", []any{edit}, "replace", "a/b.go", "a/b.go\n-two\n+2", false},
		{"two edits in one", "replace__1", "b.go", "edit", []any{edit, edit}, "replace", "b.go", "b.go", true},
		{"a page", "web_fetch__1", "Processing URLs …", "fetch", nil, "web_fetch", "Processing URLs …", "Processing URLs …", true},
		{"a call without its name", "c1", "write_file", "execute", nil, "execute", "write_file", "write_file", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			talk := gemini.NewTalk()
			talk.Line([]byte(acptest.Requests(0, use(test.call, test.title, test.kind, test.content...))))
			q := agent.Asked(talk.Turn().Ask[0])
			if q.Tool != test.tool || q.Subject != test.subject || q.Text != test.text || q.Altered != test.altered {
				t.Errorf("it asks %+v, want %+v", q, test)
			}
		})
	}
}

func TestAModelErrorIsAFailureInAConversationToo(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]agent.FailureCode{
		"unauthorized": agent.Unauthorized, "rate-limited": agent.RateLimited, "usage-limited": agent.UsageLimited, "server-error": agent.ModelFailed,
		"overloaded": agent.ModelFailed, "overflow": agent.Overflowed, "cut": agent.Unreachable, "ended": agent.Unreachable,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := driver.Talk(t, recorded(t, name), agent.Task{}).Failure
			if f == nil || f.Code != want || strings.Contains(f.Message, "{") || f.Until.IsZero() == (want == agent.RateLimited) {
				t.Errorf("%+v; want %s", f, want)
			}
		})
	}
}

// The program replays a conversation asynchronously before it continues.
func TestAConversationIsResumedOnceItWasReplayed(t *testing.T) {
	t.Parallel()
	program := recorded(t, "retold")
	talk := driver.Talk(t, program, agent.Task{Conversation: &agent.Conversation{ID: session}, Prompt: "/memory clear"})
	var said []string
	for _, e := range talk.Entries {
		if e.Kind == agent.Said {
			said = append(said, e.Text)
		}
	}
	if talk.Failure != nil || talk.Conversation.ID != session || !slices.Equal(said, []string{"[MODE_UPDATE] plan", "I am done."}) {
		t.Errorf("%+v; said %q", talk, said)
	}
	if got := strings.Join(program.Methods(), " "); got != "initialize session/load session/set_mode session/set_mode session/prompt" {
		t.Errorf("it was told %s", got)
	}
	for _, m := range program.Requests("session/prompt") {
		if m.Params.Prompt[0].Text != "Your task:\n/memory clear" {
			t.Errorf("it was prompted %+v", m)
		}
	}
}

func TestAConversationThatItDoesNotKnowIsLost(t *testing.T) {
	t.Parallel()
	stream := acptest.Responds(1, map[string]any{}) + acptest.Fails(2, -32603, "Internal error", map[string]string{"details": "No previous sessions found for this project."})
	talk := driver.Talk(t, &acptest.Talking{Stream: stream}, agent.Task{Conversation: &agent.Conversation{ID: session}})
	agenttest.CheckFailure(t, talk.Result, agent.Lost, "No previous sessions")
}

func FuzzTalk(f *testing.F) {
	driver.TalksAnything(f, acptest.Opens(session)+acptest.Requests(0, map[string]any{"toolCallId": "c1", "title": "x", "kind": "edit", "content": 7}), fake.EndsTalk("x"),
		agenttest.RecordedTalk(f, "asked"), agenttest.RecordedTalk(f, "retold"))
}
