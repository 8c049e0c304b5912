package opencode_test

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
	"signalbox/internal/agent/opencode"
	"signalbox/internal/process"
)

// prompted is the number of the prompt that the fake program works at.
var prompted int

// message is a line of the protocol, as far as the fake program reads it.
type message struct {
	ID     int    `json:"id"`
	Method string `json:"method"`
	Params struct {
		Prompt []struct{ Text string } `json:"prompt"`
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

func responds(out io.Writer, id int, result any) {
	_, _ = io.WriteString(out, agenttest.Line(map[string]any{"jsonrpc": "2.0", "id": id, "result": result}))
}

// asks is a fake's talk of permissions.
func asks(in *bufio.Reader, out io.Writer, deaf int, commands ...string) (told []string) {
	responds(out, heard(in).ID, map[string]any{"protocolVersion": 1})
	responds(out, heard(in).ID, map[string]any{"sessionId": "ses_1"})
	prompted = heard(in).ID
	for i, command := range commands {
		_, _ = io.WriteString(out, agenttest.Line(map[string]any{"jsonrpc": "2.0", "id": i, "method": "session/request_permission", "params": map[string]any{
			"toolCall": map[string]any{"toolCallId": "c1", "title": "bash", "rawInput": map[string]any{"command": command}},
			"options":  []any{map[string]any{"optionId": "once", "kind": "allow_once"}, map[string]any{"optionId": "reject", "kind": "reject_once"}}}}))
		if i == deaf {
			return told
		}
		if m := heard(in); m.ID == i && m.Result.Outcome.ID == "once" {
			told = append(told, "allow")
			continue
		}
		responds(out, prompted, map[string]any{"stopReason": "end_turn"}) // a denial ends the turn
		again := heard(in)
		prompted = again.ID
		_, why, _ := strings.Cut(again.Params.Prompt[0].Text, "bash: ")
		told = append(told, "deny: "+why)
	}
	return told
}

func endsTalk(text string) string {
	said := map[string]any{"sessionUpdate": "agent_message_chunk", "messageId": "m1", "content": map[string]string{"type": "text", "text": text}}
	return agenttest.Line(map[string]any{"jsonrpc": "2.0", "method": "session/update", "params": map[string]any{"sessionId": "ses_1", "update": said}}) +
		agenttest.Line(map[string]any{"jsonrpc": "2.0", "id": prompted, "result": map[string]any{"stopReason": "end_turn"}})
}

// talking prints a recorded talk, and waits after what asks, and before what answers, until it is told something.
type talking struct {
	stream []byte
	told   []message
}

func (p *talking) Exec(_ context.Context, c process.Command) (process.Result, error) {
	in, end := bufio.NewReader(c.Stdin), process.Result{Started: agenttest.Started, Duration: time.Second, Ending: process.Exited}
	for line := range bytes.Lines(p.stream) {
		response := bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","id":`)) && !bytes.Contains(line, []byte(`"method"`))
		if response {
			p.told = append(p.told, heard(in))
		}
		if _, err := c.Stdout.Write(line); err != nil {
			return end, err
		}
		if !response && bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","id":`)) {
			p.told = append(p.told, heard(in))
		}
	}
	_, err := io.Copy(io.Discard, in)
	return end, err
}

func TestWhatTheProgramAskedIsAnsweredInItsWords(t *testing.T) {
	t.Parallel()
	stream, err := os.ReadFile("testdata/asked.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var asked []agent.Question
	var kinds []string
	program := &talking{stream: stream}
	task := agent.Task{Role: "implementer", Prompt: "Write the file.", Dir: "/work", Log: io.Discard, OutputLimit: 8 << 20,
		Transcript: func(e agent.Entry) { kinds = append(kinds, string(e.Kind)) },
		Ask: func(_ context.Context, q agent.Question) (agent.Answer, error) {
			if asked = append(asked, q); len(asked) == 3 {
				return agent.Answer{Verdict: agent.Denied, Text: "Stay."}, nil
			}
			return agent.Answer{Verdict: agent.Allowed}, nil
		}}
	result, err := driver.Make(t, agent.Settings{Name: "a", Model: "anthropic/m1", Permissions: agent.Ask}).Run(t.Context(), task, program)
	if err != nil || result.Failure != nil || result.Answer != "It is done." || !slices.Equal(result.Denied, []string{"bash"}) || result.Conversation == nil {
		t.Fatalf("%+v, %v", result, err)
	}
	wants := [][2]string{{"bash", "sh -c 'echo hello >hello.txt'"}, {"write", "b.txt"}, {"bash", "sh -c 'echo bye >bye.txt'"}}
	for i, want := range wants {
		if q := asked[i]; q.Tool != want[0] || q.Subject != want[1] || q.Altered {
			t.Errorf("question %d is %+v, want %q", i, q, want)
		}
	}
	last := program.told[len(program.told)-1]
	if last.Method != "session/prompt" || last.Params.Prompt[0].Text != "You were not allowed to use bash: Stay." {
		t.Errorf("after the denial it is told %+v", last)
	}
	if got := strings.Join(kinds, " "); strings.Count(got, "tool_call ") != 3 || strings.Count(got, "permission_asked") != 3 || !strings.HasPrefix(got, "begin ") {
		t.Errorf("entries %s", got)
	}
}

func TestWhatAModelDoesNotAnswerIsAFailureInATalkToo(t *testing.T) {
	t.Parallel()
	opened := agenttest.Line(map[string]any{"jsonrpc": "2.0", "id": 1, "result": map[string]any{}})
	session := agenttest.Line(map[string]any{"jsonrpc": "2.0", "id": 2, "result": map[string]any{"sessionId": "ses_1"}})
	fails := func(id int, message string) string {
		return agenttest.Line(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": -32603, "message": message}})
	}
	for _, test := range []struct {
		name, stream string
		resumed      *agent.Conversation
		code         agent.FailureCode
	}{
		{"a key that is none", opened + session + fails(3, "Internal error: invalid x-api-key"), nil, agent.Unauthorized},
		{"a conversation that is lost", opened + fails(2, "Internal error: OpenCode service failure"), &agent.Conversation{ID: "ses_1"}, agent.Lost},
		{"no session", opened + agenttest.Line(map[string]any{"jsonrpc": "2.0", "id": 2, "result": map[string]any{"sessionId": "--help"}}), nil, agent.Crashed},
		{"an answer that is cut off", opened + session + agenttest.Line(map[string]any{"jsonrpc": "2.0", "id": 3, "result": map[string]any{"stopReason": "max_tokens"}}), nil, agent.Crashed},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			task := agent.Task{Role: "implementer", Prompt: "x", Dir: "/work", Log: io.Discard, OutputLimit: 1 << 20, Conversation: test.resumed}
			result, err := driver.Make(t, agent.Settings{Name: "a", Permissions: agent.Ask}).Run(t.Context(), task, &talking{stream: []byte(test.stream)})
			if err != nil || result.Failure == nil || result.Failure.Code != test.code {
				t.Errorf("%+v, %v; want %s", result.Failure, err, test.code)
			}
		})
	}
}

func FuzzTalk(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"toolCall":{"rawInput":7},"options":3}}`))
	f.Add([]byte(endsTalk("x")))
	f.Fuzz(func(_ *testing.T, stream []byte) {
		d := opencode.NewTalk()
		for line := range bytes.Lines(stream) {
			d.Line(line)
			for turn := d.Turn(); len(turn.Ask) > 0; turn = d.Turn() {
				for _, q := range turn.Ask {
					d.Answered(q, agent.Answer{Verdict: agent.Denied})
				}
			}
		}
	})
}
