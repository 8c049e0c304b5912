package acp_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/acp/acptest"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/process"
)

func TestAMethodThatIsNotKnownIsAnsweredAndNothingWaitsForIt(t *testing.T) {
	t.Parallel()
	unknown := `{"jsonrpc":"2.0","id":70,"method":"fs/read_text_file","params":{"path":"/etc/passwd"}}` + "\n"
	got, p := talk(t, unknown+`{"jsonrpc":"2.0","method":"session/other","params":{}}`+"\n"+whole)
	if code := p.Response(70).Error.Code; code != -32601 || got.Failure != nil || got.Answer != "done" || len(got.Asked) > 0 {
		t.Errorf("answered with %d: %+v", code, got)
	}
}

func TestALineThatIsNoneIsPassedOver(t *testing.T) {
	t.Parallel()
	half := acptest.Says("m1", "lost")
	for name, line := range map[string]string{
		"half a line":             half[:len(half)/2] + "\n",
		"words":                   "Listening on standard input.\n",
		"nothing":                 "\n",
		"a message without an ID": `{"jsonrpc":"2.0"}` + "\n",
		"an update of no shape":   `{"jsonrpc":"2.0","method":"session/update","params":[1]}` + "\n",
	} {
		if got, _ := talk(t, line+whole); got.Failure != nil || got.Answer != "done" {
			t.Errorf("%s: %+v", name, got.Result)
		}
	}
}

func TestALineThatIsTooLongIsLeftOutAndSaid(t *testing.T) {
	t.Parallel()
	got, _ := talk(t, acptest.Says("m1", strings.Repeat("x", 17<<20))+whole)
	if got.Failure != nil || got.Answer != "done" || !strings.HasPrefix(got.Kinds(), "begin warning message") {
		t.Errorf("%+v, entries %s", got.Failure, got.Kinds())
	}
}

func TestAResponseToNothingChangesNothing(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"an unknown number":            `{"jsonrpc":"2.0","id":99,"result":{"stopReason":"end_turn"}}`,
		"another kind of ID":           `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"no"}}`,
		"one that was answered before": `{"jsonrpc":"2.0","id":1,"result":{}}`,
		"the session, once more":       `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"other"}}`,
	} {
		d := opened()
		d.Turn()
		entries, _ := d.Line([]byte(line))
		turn, end := d.Turn(), d.End(process.Result{}, "")
		if len(entries) > 0 || turn.Over || end.Whole || end.Failure != nil || end.Conversation.ID != "s1" || len(turn.Tell) > 0 {
			t.Errorf("%s: %+v, told %q, %+v", name, entries, turn.Tell, end)
		}
	}
}

// A program that could not parse a message reports that without an ID.
func TestAProblemEndsTheTalkWithItsWords(t *testing.T) {
	t.Parallel()
	for name, problem := range map[string]string{
		"of the prompt":         acptest.Fails(3, -32603, "Internal error", map[string]string{"details": "the model is gone"}),
		"of a line":             `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Internal error","data":{"details":"the model is gone"}}}` + "\n",
		"with data of no shape": acptest.Fails(3, -32603, "Internal error: the model is gone", []int{7}),
	} {
		p := &acptest.Talking{Stream: acptest.Opens("s1") + acptest.Says("m1", "I beg") + problem}
		got := driver.Talk(t, p, agent.Task{})
		agenttest.CheckFailure(t, got.Result, agent.Refused, "Internal error")
		if kinds := got.Kinds(); kinds != "begin message error end" || got.Entries[2].Text != "Internal error: the model is gone" {
			t.Errorf("%s: entries %s: %+v", name, kinds, got.Entries)
		}
	}
}

// closing prints a stream and is gone, whatever it was asked.
type closing string

func (c closing) Exec(_ context.Context, command process.Command) (process.Result, error) {
	_, err := io.WriteString(command.Stdout, string(c))
	return process.Result{}, err
}

func TestAProgramThatIsGoneInTheMidstIsAFailureAndKeepsItsConversation(t *testing.T) {
	t.Parallel()
	for name, stream := range map[string]string{
		"before it answered":           "",
		"in its answer":                acptest.Says("m1", "I beg"),
		"in a line":                    acptest.Says("m1", "I beg")[:40],
		"while it waits for an answer": acptest.Requests(0, command("ls")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task := agent.Task{Ask: func(ctx context.Context, _ agent.Question) (agent.Answer, error) {
				<-ctx.Done() // or the call would wait for ever
				return agent.Answer{}, ctx.Err()
			}}
			got := driver.Talk(t, closing(acptest.Opens("s1")+stream), task)
			agenttest.CheckFailure(t, got.Result, agent.Crashed, "without saying that it had finished")
			if got.Conversation == nil || got.Conversation.ID != "s1" {
				t.Errorf("Conversation = %+v", got.Conversation)
			}
		})
	}
	got := driver.Talk(t, closing(""), agent.Task{})
	agenttest.CheckFailure(t, got.Result, agent.Crashed, "without saying that it had finished")
	if got.Conversation != nil {
		t.Errorf("Conversation = %+v", got.Conversation)
	}
}
