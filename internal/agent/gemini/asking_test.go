package gemini_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/agent/gemini"
	"signalbox/internal/process"
)

// prompted is the number of the prompt that the fake program works at.
var prompted int

// message is a line of the protocol, as far as the fake program reads it.
type message struct {
	ID     int    `json:"id"`
	Method string `json:"method"`
	Params struct {
		Prompt  []struct{ Text string } `json:"prompt"`
		Session string                  `json:"sessionId"`
	} `json:"params"`
	Result struct {
		Outcome struct {
			ID string `json:"optionId"`
		} `json:"outcome"`
	} `json:"result"`
}

func heard(in *bufio.Reader) (m message) {
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &m)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	return m
}

func response(id int, result any) string {
	return agenttest.Line(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

func updated(update map[string]any) string {
	return agenttest.Line(map[string]any{"jsonrpc": "2.0", "method": "session/update", "params": map[string]any{"sessionId": session, "update": update}})
}

func chunk(text string) string {
	return updated(map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]string{"type": "text", "text": text}})
}

// ended is the end of a turn for which one answer was counted.
func ended(id int) string {
	return response(id, map[string]any{"stopReason": "end_turn", "_meta": map[string]any{"quota": map[string]any{"token_count": map[string]int{"input_tokens": 10, "output_tokens": 1}}}})
}

// requested is a request for permission to use a tool.
func requested(id int, call, title, kind string, content ...any) string {
	return agenttest.Line(map[string]any{"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": map[string]any{
		"toolCall": map[string]any{"toolCallId": call, "title": title, "kind": kind, "content": content},
		"options": []any{map[string]any{"optionId": "proceed_always", "kind": "allow_always"}, map[string]any{"optionId": "proceed_once", "kind": "allow_once"},
			map[string]any{"optionId": "cancel", "kind": "reject_once"}}}})
}

func shows(text string) any {
	return map[string]any{"type": "content", "content": map[string]string{"type": "text", "text": text}}
}

// asks is a fake's talk of permissions. Of a denial it is told why once its turn is over.
func asks(in *bufio.Reader, out io.Writer, deaf int, commands ...string) (told []string) {
	_, _ = io.WriteString(out, response(heard(in).ID, map[string]any{"protocolVersion": 1}))
	_, _ = io.WriteString(out, response(heard(in).ID, map[string]any{"sessionId": session}))
	prompted = heard(in).ID
	for i, command := range commands {
		_, _ = io.WriteString(out, requested(i, fmt.Sprint("run_shell_command__", i), command, "execute", shows("[current working directory /work]")))
		if i == deaf {
			return told
		}
		if m := heard(in); m.ID == i && m.Result.Outcome.ID == "proceed_once" {
			told = append(told, "allow")
			continue
		}
		_, _ = io.WriteString(out, chunk("Then without.")+ended(prompted))
		again := heard(in)
		prompted = again.ID
		_, why, _ := strings.Cut(again.Params.Prompt[0].Text, "run_shell_command: ")
		told = append(told, "deny: "+why)
	}
	return told
}

func endsTalk(text string) string { return chunk(text) + ended(prompted) }

// talking prints a recorded talk, and waits after what asks, and before what answers, until it is told something.
type talking struct {
	stream []byte
	told   []message
}

func (p *talking) Exec(_ context.Context, c process.Command) (process.Result, error) {
	in, end := bufio.NewReader(c.Stdin), process.Result{Started: agenttest.Started, Duration: time.Second, Ending: process.Exited}
	for line := range bytes.Lines(p.stream) {
		request := bytes.Contains(line, []byte(`"session/request_permission"`))
		if !request && !bytes.Contains(line, []byte(`"session/update"`)) {
			p.told = append(p.told, heard(in))
		}
		if _, err := c.Stdout.Write(line); err != nil {
			return end, err
		}
		if request {
			p.told = append(p.told, heard(in))
		}
	}
	_, err := io.Copy(io.Discard, in)
	return end, err
}

func recorded(t *testing.T, name string) *talking {
	t.Helper()
	stream, err := os.ReadFile("testdata/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return &talking{stream: stream}
}

func asking(task agent.Task) agent.Task {
	task.Role, task.Dir, task.Log, task.OutputLimit = "implementer", "/work", io.Discard, 8<<20
	if task.Prompt == "" {
		task.Prompt = "Write the file."
	}
	return task
}

func TestWhatTheProgramAskedIsAnsweredInItsWords(t *testing.T) {
	t.Parallel()
	var asked []agent.Question
	var kinds []string
	program := recorded(t, "asked")
	program.stream = append(program.stream, chunk("It is done.")+ended(4)...) // to what it is told of the denial
	task := asking(agent.Task{
		Transcript: func(e agent.Entry) { kinds = append(kinds, string(e.Kind)) },
		Ask: func(_ context.Context, q agent.Question) (agent.Answer, error) {
			if asked = append(asked, q); len(asked) == 3 {
				return agent.Answer{Verdict: agent.Denied, Text: "Stay."}, nil
			}
			return agent.Answer{Verdict: agent.Allowed}, nil
		}})
	result, err := driver.Make(t, agent.Settings{Name: "a", Permissions: agent.Ask}).Run(t.Context(), task, program)
	if err != nil || result.Failure != nil || result.Answer != "It is done." || !slices.Equal(result.Denied, []string{"run_shell_command"}) ||
		result.Conversation == nil || result.Conversation.ID != session || result.Usage != (agent.Usage{InputTokens: 4810, OutputTokens: 121}) {
		t.Fatalf("%+v, %v", result, err)
	}
	wants := [][3]string{{"run_shell_command", "sh -c 'echo hello >hello.txt'", "sh -c 'echo hello >hello.txt'"}, {"write_file", "b.txt", "b.txt\n+x"},
		{"run_shell_command", "sh -c 'echo bye >bye.txt'", "sh -c 'echo bye >bye.txt'"}}
	for i, want := range wants {
		if q := asked[i]; q.Tool != want[0] || q.Subject != want[1] || q.Text != want[2] || q.Altered {
			t.Errorf("question %d is %+v, want %q", i, q, want)
		}
	}
	for i, want := range []string{"proceed_once", "proceed_once", "cancel"} {
		if got := program.told[3+i]; got.Result.Outcome.ID != want {
			t.Errorf("answer %d is %+v, want %s", i, got, want)
		}
	}
	last := program.told[len(program.told)-1]
	if last.Method != "session/prompt" || last.Params.Prompt[0].Text != "You were not allowed to use run_shell_command: Stay." {
		t.Errorf("after the denial it is told %+v", last)
	}
	if got := strings.Join(kinds, " "); strings.Count(got, "tool_call ") != 3 || strings.Count(got, "permission_asked") != 3 || !strings.HasPrefix(got, "begin tool_call") {
		t.Errorf("entries %s", got)
	}
}

// What it tells no whole input of no policy may allow.
func TestWhatIsAskedForIsSaidAsFarAsItIsTold(t *testing.T) {
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
			talk.Line([]byte(requested(0, test.call, test.title, test.kind, test.content...)))
			q := agent.Asked(talk.Turn().Ask[0])
			if q.Tool != test.tool || q.Subject != test.subject || q.Text != test.text || q.Altered != test.altered {
				t.Errorf("it asks %+v, want %+v", q, test)
			}
		})
	}
}

func TestWhatAModelDoesNotAnswerIsAFailureInATalkToo(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]agent.FailureCode{
		"unauthorized": agent.Unauthorized, "rate-limited": agent.RateLimited, "usage-limited": agent.UsageLimited, "server-error": agent.ModelFailed,
		"overloaded": agent.ModelFailed, "overflow": agent.Overflowed, "cut": agent.Unreachable, "ended": agent.Unreachable,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := driver.Make(t, agent.Settings{Name: "a", Permissions: agent.Ask}).Run(t.Context(), asking(agent.Task{}), recorded(t, name))
			if err != nil || result.Failure == nil || result.Failure.Code != want || strings.Contains(result.Failure.Message, "{") || result.Failure.Until.IsZero() == (want == agent.RateLimited) {
				t.Errorf("%+v, %v; want %s", result.Failure, err, want)
			}
		})
	}
}

// A conversation is told again, at the program's own time, before it is gone on with.
func TestAConversationIsGoneOnWithOnceItWasToldAgain(t *testing.T) {
	t.Parallel()
	program := recorded(t, "retold")
	var said []string
	task := asking(agent.Task{Conversation: &agent.Conversation{ID: session}, Prompt: "/memory clear",
		Transcript: func(e agent.Entry) {
			if e.Kind == agent.Said {
				said = append(said, e.Text)
			}
		},
		Ask: func(context.Context, agent.Question) (agent.Answer, error) {
			return agent.Answer{Verdict: agent.Allowed}, nil
		}})
	result, err := driver.Make(t, agent.Settings{Name: "a", Permissions: agent.Ask}).Run(t.Context(), task, program)
	if err != nil || result.Failure != nil || result.Conversation.ID != session || !slices.Equal(said, []string{"[MODE_UPDATE] plan", "I am done."}) {
		t.Errorf("%+v, %v; said %q", result, err, said)
	}
	var methods []string
	for _, m := range program.told {
		methods = append(methods, m.Method)
	}
	program.told = program.told[:len(program.told)-1] // but for the answer
	if got := strings.TrimSpace(strings.Join(methods, " ")); got != "initialize session/load session/set_mode session/set_mode session/prompt" {
		t.Errorf("it was told %s", got)
	}
	if last := program.told[len(program.told)-1]; last.Params.Prompt[0].Text != "Your task:\n/memory clear" {
		t.Errorf("it was prompted %+v", last)
	}
}

func TestAConversationThatItDoesNotKnowIsLost(t *testing.T) {
	t.Parallel()
	stream := response(1, map[string]any{}) + agenttest.Line(map[string]any{"jsonrpc": "2.0", "id": 2, "error": map[string]any{"code": -32603, "message": "Internal error",
		"data": map[string]string{"details": "No previous sessions found for this project."}}})
	result, err := driver.Make(t, agent.Settings{Name: "a", Permissions: agent.Ask}).Run(t.Context(), asking(agent.Task{Conversation: &agent.Conversation{ID: session}}), &talking{stream: []byte(stream)})
	if err != nil || result.Failure == nil || result.Failure.Code != agent.Lost || !strings.Contains(result.Failure.Message, "No previous sessions") {
		t.Errorf("%+v, %v", result.Failure, err)
	}
}

func FuzzTalk(f *testing.F) {
	f.Add([]byte(response(1, map[string]any{}) + response(2, map[string]any{"sessionId": session}) + requested(0, "c1", "x", "edit", 7)))
	f.Add([]byte(endsTalk("x")))
	f.Fuzz(func(_ *testing.T, stream []byte) {
		d := gemini.NewTalk()
		for line := range bytes.Lines(stream) {
			d.Line(line)
			for turn := d.Turn(); len(turn.Ask) > 0; turn = d.Turn() {
				for _, q := range turn.Ask {
					d.Answered(q, agent.Answer{Verdict: agent.Denied})
				}
			}
		}
		d.End(process.Result{}, "")
	})
}
