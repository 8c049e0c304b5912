package acp_test

import (
	"strconv"
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/acp/acptest"
	"signalbox/internal/process"
)

// A program may offer no way to say what was decided: then nothing is.
func TestAnAnswerThatIsNotOfferedCancelsTheRequest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options string
		verdict agent.Verdict
		want    string
	}{
		"allowed":                {`[{"optionId":"a","kind":"allow_once"},{"optionId":"r","kind":"reject_once"}]`, agent.Allowed, "selected a"},
		"denied":                 {`[{"optionId":"a","kind":"allow_once"},{"optionId":"r","kind":"reject_once"}]`, agent.Denied, "selected r"},
		"once is not for always": {`[{"optionId":"a","kind":"allow_always"}]`, agent.Allowed, "cancelled "},
		"no way to deny":         {`[{"optionId":"a","kind":"allow_once"}]`, agent.Denied, "cancelled "},
		"no options":             {`7`, agent.Allowed, "cancelled "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stream := `{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"c1","title":"ls"},"options":` + test.options + `}}` + "\n" + whole
			if test.verdict == agent.Denied {
				stream += acptest.Ends(4, nil)
			}
			got, p := talk(t, stream, agent.Answer{Verdict: test.verdict})
			answer := p.Response(0).Result.Outcome
			if told := answer.Kind + " " + answer.ID; told != test.want || got.Failure != nil || len(got.Denied) > 0 != (test.verdict == agent.Denied) {
				t.Errorf("it was told %q, want %q; %+v", told, test.want, got)
			}
		})
	}
}

func TestARequestThatComesTwiceIsAskedOnce(t *testing.T) {
	t.Parallel()
	d := opened()
	d.Turn()
	twice := []byte(acptest.Requests(5, command("ls")))
	d.Line(twice)
	d.Line(twice)
	asked := d.Turn().Ask
	if len(asked) != 1 {
		t.Fatalf("it asks %+v", asked)
	}
	d.Answered(asked[0], agent.Answer{Verdict: agent.Allowed})
	d.Answered(asked[0], agent.Answer{Verdict: agent.Denied})
	if told := string(d.Turn().Tell); strings.Count(told, "\n") != 1 || !strings.Contains(told, acptest.Once) {
		t.Errorf("it was told %s", told)
	}
}

func TestADenialIsSaidOnceTheTurnIsOverAndNotForEver(t *testing.T) {
	t.Parallel()
	var stream strings.Builder
	const prompts = 30
	for i := range prompts {
		stream.WriteString(acptest.Requests(i, command("rm")) + acptest.Ends(3+i, nil))
	}
	denied := make([]agent.Answer, prompts)
	for i := range denied {
		denied[i] = agent.Answer{Verdict: agent.Denied, Text: "Stay."}
	}
	d := opened()
	told, over := string(d.Turn().Tell), false
	for line := range strings.Lines(stream.String()) {
		d.Line([]byte(line))
		turn := d.Turn()
		for i, q := range turn.Ask {
			d.Answered(q, denied[i])
		}
		told, over = told+string(turn.Tell), over || turn.Over
	}
	if n := strings.Count(told, "You were not allowed to use tool: Stay."); n != 20 || !over {
		t.Errorf("it was told %d times why, over %t", n, over)
	}
	if end := d.End(process.Result{}, ""); !end.Whole || len(end.Denied) != 1 {
		t.Errorf("%+v", end)
	}
}

func TestAToolSeenOnlyInItsRequestIsReportedOnce(t *testing.T) {
	t.Parallel()
	got, _ := talk(t, acptest.Requests(0, command("ls"))+acptest.Updates("tool_call_update", map[string]any{"toolCallId": "c1", "status": "in_progress", "title": "ls"})+
		acptest.Updates("tool_call_update", map[string]any{"toolCallId": "c1", "status": "failed", "content": []any{map[string]any{"content": map[string]string{"text": "no"}}}})+whole)
	if kinds := got.Kinds(); kinds != "begin tool_call permission_asked tool_result message usage end" || !got.Entries[3].Failed || got.Entries[3].Text != "no" {
		t.Errorf("entries %s: %+v", kinds, got.Entries)
	}
}

func TestCallsThatNeverEndAreNotRememberedForEver(t *testing.T) {
	t.Parallel()
	d := opened()
	begins := func(call int) int {
		entries, _ := d.Line([]byte(acptest.Updates("tool_call_update", map[string]any{"toolCallId": strconv.Itoa(call), "status": "in_progress"})))
		return len(entries)
	}
	if first, again := begins(0), begins(0); first != 1 || again != 0 {
		t.Errorf("a call is told %d times, and then %d", first, again)
	}
	for call := range 2000 {
		begins(1 + call)
	}
	if begins(0) != 1 {
		t.Error("2000 calls later the first is remembered")
	}
}
