// Package acptest has a fake program that speaks the Agent Client Protocol, and the lines that it prints.
package acptest

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"strings"
	"testing"

	"signalbox/internal/agent/jsonrpc/jsonrpctest"
)

// Messages that a program receives.
type (
	// Params are the parameters of a request.
	Params struct {
		Prompt  []struct{ Text string } `json:"prompt"`
		Session string                  `json:"sessionId"`
	}
	// Response is a person's decision.
	Response struct {
		Outcome struct {
			Kind string `json:"outcome"`
			ID   string `json:"optionId"`
		} `json:"outcome"`
	}
	// Message is either of them; Talking is a program that prints its side of a conversation.
	Message = jsonrpctest.Message[Params, Response]
	Talking = jsonrpctest.Talking[Params, Response]
)

func line(message map[string]any) string {
	message["jsonrpc"] = "2.0"
	text, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	return string(text) + "\n"
}

// Responds returns the response to a request.
func Responds(id int, result any) string {
	return line(map[string]any{"id": id, "result": result})
}

// Fails returns a response with an error.
func Fails(id, code int, message string, data any) string {
	return line(map[string]any{"id": id, "error": map[string]any{"code": code, "message": message, "data": data}})
}

// Opens returns the beginning of a session with this ID.
func Opens(session string) string {
	return Responds(1, map[string]any{"protocolVersion": 1}) + Responds(2, map[string]any{"sessionId": session})
}

// Updates returns an update about the program's work.
func Updates(what string, update map[string]any) string {
	update = maps.Clone(update)
	update["sessionUpdate"] = what
	return line(map[string]any{"method": "session/update", "params": map[string]any{"sessionId": "s", "update": update}})
}

// Says returns a piece of a message.
func Says(message, text string) string {
	return Updates("agent_message_chunk", map[string]any{"messageId": message, "content": map[string]string{"type": "text", "text": text}})
}

// The answers that a program offers.
const (
	Always = "always"
	Once   = "once"
	Reject = "reject"
)

// Requests returns a request for permission to use a tool.
func Requests(id int, use map[string]any) string {
	return line(map[string]any{"id": id, "method": "session/request_permission", "params": map[string]any{"toolCall": use,
		"options": []any{map[string]any{"optionId": Always, "kind": "allow_always"}, map[string]any{"optionId": Once, "kind": "allow_once"},
			map[string]any{"optionId": Reject, "kind": "reject_once"}}}})
}

// Ends returns the end of a prompt.
func Ends(prompt int, result map[string]any) string {
	result = maps.Clone(result)
	if result == nil {
		result = map[string]any{}
	}
	result["stopReason"] = "end_turn"
	return Responds(prompt, result)
}

// Program is what one vendor's fake program does in its own way.
type Program struct {
	// Tool is its name for the tool that runs commands. Use returns its report of a command.
	Tool string
	Use  func(number int, command string) map[string]any
	// Denied is its message after a denial, which ends its turn; Result is what it adds to every end.
	Denied string
	Result map[string]any
	// prompted is the id of the current prompt.
	prompted int
}

// Asks implements agenttest.Protocol. The program learns the reason of a denial once its turn is over.
func (p *Program) Asks(in *bufio.Reader, out io.Writer, deaf int, commands ...string) (told []string) {
	for _, result := range []map[string]any{{"protocolVersion": 1}, {"sessionId": "ses_1"}} {
		say(out, Responds(jsonrpctest.Heard[Message](in).ID, result))
	}
	p.prompted = jsonrpctest.Heard[Message](in).ID
	for i, command := range commands {
		say(out, Requests(i, p.Use(i, command)))
		if i == deaf {
			return told
		}
		if m := jsonrpctest.Heard[Message](in); m.ID == i && m.Result.Outcome.ID == Once {
			told = append(told, "allow")
			continue
		}
		if p.Denied != "" {
			say(out, Says("", p.Denied))
		}
		say(out, Ends(p.prompted, p.Result))
		again := jsonrpctest.Heard[Message](in)
		p.prompted = again.ID
		_, why, _ := strings.Cut(again.Params.Prompt[0].Text, p.Tool+": ")
		told = append(told, "deny: "+why)
	}
	return told
}

// EndsTalk implements agenttest.Protocol.
func (p *Program) EndsTalk(text string) string { return Says("m1", text) + Ends(p.prompted, p.Result) }

func say(out io.Writer, text string) { _, _ = io.WriteString(out, text) }

// CheckToldWhy checks that the last message gave the reason why a tool was denied.
func CheckToldWhy(t *testing.T, p *Talking, tool, why string) {
	t.Helper()
	if len(p.Told) == 0 {
		t.Fatal("it was told nothing")
	}
	last := p.Told[len(p.Told)-1]
	if want := "You were not allowed to use " + tool + ": " + why; last.Method != "session/prompt" || last.Params.Prompt[0].Text != want {
		t.Errorf("after the denial it is told %+v, want %q", last, want)
	}
}
