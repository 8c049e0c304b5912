package pi_test

import (
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/agent/pi"
	"signalbox/internal/process"
)

func FuzzReader(f *testing.F) {
	for _, name := range modeltest.Cases(f, "pi") {
		f.Add(modeltest.Recorded(f, "pi", name).Stdout)
	}
	f.Add([]byte(`{"type":"message_end","message":{"role":"assistant","content":"text","usage":[]}}` + "\n" + `{"type":"auto_retry_start","delayMs":1e300}`))
	f.Fuzz(pi.ReadAnything)
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
	for _, test := range []struct {
		name, stdout, stderr string
		ending               process.Ending
		exit                 int
		code                 agent.FailureCode
		message, denied      string
		until                string
	}{
		{name: "a tool that it was not given", stdout: begin + `{"type":"tool_execution_end","toolCallId":"c1","toolName":"bash","isError":true,"result":{"content":[{"type":"text","text":"Tool bash not found"}]}}` + "\n" +
			said("so", "stop") + over, denied: "bash"},
		{name: "an error of a tool's own is none of permissions", stdout: begin + `{"type":"tool_execution_end","toolName":"read","isError":true,"result":{"content":[{"type":"text","text":"file not found"}]}}` + "\n" +
			said("so", "stop") + over},
		{name: "a whole answer in a program that then failed", stdout: begin + said("so", "stop") + over, exit: 1},
		{name: "a whole answer whose end was left out", stdout: begin + said("so", "stop")},
		{name: "a turn that began after an answer", stdout: begin + said("so", "stop") + over + `{"type":"turn_start"}`, code: agent.Crashed, message: "without saying"},
		{name: "an answer that is cut off", stdout: begin + said("so", "length") + over, code: agent.Crashed, message: "cut off"},
		{name: "one that was broken off", stdout: begin + said("so", "aborted") + over, code: agent.Crashed, message: "broke its work off"},
		{name: "a limit with its end", stdout: broken(`429 Rate limit reached. Please try again in 1.5s.`), code: agent.RateLimited, until: "2026-01-01T00:00:01.5Z"},
		{name: "a retry that a deadline ended", stdout: broken("529 overloaded") + `{"type":"auto_retry_start","attempt":1,"delayMs":2000,"errorMessage":"529 overloaded"}`,
			ending: process.Idled, code: agent.ModelFailed, message: "printed nothing for 1m0s: 529 overloaded"},
		{name: "a conversation that it does not know", stderr: "No session found matching '0-a'", exit: 1, code: agent.Lost, message: "any more"},
		{name: "a conversation of a folder that is gone", stderr: "Stored session working directory does not exist: /old", exit: 1, code: agent.Lost, message: "any more"},
		{name: "nothing at all", code: agent.Crashed, message: "without saying that it had finished"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.ending == "" {
				test.ending = process.Exited
			}
			result, kinds := replayed(t, recorded{Stdout: []byte(test.stdout), Stderr: test.stderr, Ending: test.ending, ExitCode: test.exit})
			checkFailure(t, result.Failure, test.code, test.message)
			if got := strings.Join(result.Denied, " "); got != test.denied || (got != "") != strings.Contains(kinds, "permission_denied") {
				t.Errorf("Denied = %q, want %q; entries %s", got, test.denied, kinds)
			}
			if f := result.Failure; test.until != "" && (f == nil || f.Until.Format(time.RFC3339Nano) != test.until) {
				t.Errorf("Failure = %+v, want it until %s", f, test.until)
			}
		})
	}
}

func TestRawOutputRepeatsNothing(t *testing.T) {
	t.Parallel()
	recording := recorded(modeltest.Recorded(t, "pi", "done"))
	log := logged(t, recording)
	for _, kind := range []string{"message_start", "message_update", "turn_end", "agent_end"} {
		if strings.Contains(log, `"type":"`+kind+`"`) {
			t.Errorf("%s is kept", kind)
		}
	}
	if !strings.Contains(log, `"type":"tool_execution_end"`) || len(log)*3 > len(recording.Stdout) {
		t.Errorf("%d bytes of %d are kept", len(log), len(recording.Stdout))
	}
}
