package pi_test

import (
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/process"
)

func FuzzReader(f *testing.F) {
	driver.ReadsAnything(f, `{"type":"message_end","message":{"role":"assistant","content":"text","usage":[]}}`+"\n"+`{"type":"auto_retry_start","delayMs":1e300}`)
}

const (
	begin = `{"type":"session","id":"0-a"}` + "\n" + `{"type":"turn_start"}` + "\n"
	over  = `{"type":"agent_end"}` + "\n"
)

func TestEndings(t *testing.T) {
	t.Parallel()
	broken := func(problem string) string {
		return begin + `{"type":"message_end","message":{"role":"assistant","stopReason":"error","errorMessage":"` + problem + `","timestamp":1767225600000}}` + "\n" + over
	}
	driver.Ends(t, []agenttest.Printed{
		{Name: "a tool that it was not given", Stdout: begin + `{"type":"tool_execution_end","toolCallId":"c1","toolName":"bash","isError":true,"result":{"content":[{"type":"text","text":"Tool bash not found"}]}}` + "\n" +
			said("so", "stop") + over, Denied: "bash"},
		{Name: "an error of a tool's own is none of permissions", Stdout: begin + `{"type":"tool_execution_end","toolName":"read","isError":true,"result":{"content":[{"type":"text","text":"file not found"}]}}` + "\n" +
			said("so", "stop") + over},
		{Name: "a whole answer in a program that then failed", Stdout: begin + said("so", "stop") + over, Exit: 1},
		{Name: "a whole answer whose end was left out", Stdout: begin + said("so", "stop")},
		{Name: "a turn that began after an answer", Stdout: begin + said("so", "stop") + over + `{"type":"turn_start"}`, Code: agent.Crashed, Message: "without saying"},
		{Name: "an answer that is cut off", Stdout: begin + said("so", "length") + over, Code: agent.Crashed, Message: "cut off"},
		{Name: "one that was broken off", Stdout: begin + said("so", "aborted") + over, Code: agent.Crashed, Message: "stopped its work"},
		{Name: "a limit with its end", Stdout: broken(`429 Rate limit reached. Please try again in 1.5s.`), Code: agent.RateLimited, Until: "2026-01-01T00:00:01.5Z"},
		{Name: "a retry that a deadline ended", Stdout: broken("529 overloaded") + `{"type":"auto_retry_start","attempt":1,"delayMs":2000,"errorMessage":"529 overloaded"}`,
			Ending: process.Idled, Code: agent.ModelFailed, Message: "printed nothing for 1m0s: 529 overloaded"},
		{Name: "a conversation that it does not know", Stderr: "No session found matching '0-a'", Exit: 1, Code: agent.Lost, Message: "no longer knows"},
		{Name: "a conversation of a folder that is gone", Stderr: "Stored session working directory does not exist: /old", Exit: 1, Code: agent.Lost, Message: "no longer knows"},
		{Name: "nothing at all", Code: agent.Crashed, Message: "without saying that it had finished"},
	})
}

func TestRawOutputRepeatsNothing(t *testing.T) {
	t.Parallel()
	recording := modeltest.Recorded(t, "pi", "done")
	var log strings.Builder
	task := agent.Task{Role: "implementer", OutputLimit: 1 << 20, Log: &log}
	if _, err := driver.Make(t, agent.Settings{Name: "a", Permissions: agent.Everything}).Run(t.Context(), task, agenttest.Recorded(recording)); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"message_start", "message_update", "turn_end", "agent_end"} {
		if strings.Contains(log.String(), `"type":"`+kind+`"`) {
			t.Errorf("%s is kept", kind)
		}
	}
	if !strings.Contains(log.String(), `"type":"tool_execution_end"`) || log.Len()*3 > len(recording.Stdout) {
		t.Errorf("%d bytes of %d are kept", log.Len(), len(recording.Stdout))
	}
}
