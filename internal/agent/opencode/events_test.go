package opencode_test

import (
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/agent/opencode"
	"signalbox/internal/process"
)

func FuzzReader(f *testing.F) {
	for _, name := range modeltest.Cases(f, "opencode") {
		f.Add(modeltest.Recorded(f, "opencode", name).Stdout)
	}
	f.Add([]byte(`{"type":"tool_use","part":{"tool":7,"state":{"input":[1],"status":null}}}` + "\n" + `{"type":"error","error":"no"}`))
	f.Fuzz(opencode.ReadAnything)
}

const (
	begin = `{"type":"step_start","timestamp":1767225600000,"sessionID":"ses_1","part":{}}` + "\n"
	stop  = `{"type":"step_finish","sessionID":"ses_1","part":{"reason":"stop"}}` + "\n"
)

func tool(name, input, problem string) string {
	return `{"type":"tool_use","sessionID":"ses_1","part":{"tool":"` + name + `","callID":"c1","state":{"status":"error","input":` + input + `,"error":"` + problem + `"}}}` + "\n"
}

func TestEndings(t *testing.T) {
	t.Parallel()
	const rejected = "The user rejected permission to use this specific tool call."
	asked := `timestamp=2026-01-01T00:00:01.000Z level=ERROR run=1 message="stream error" providerID=s small=false agent=build error.error="AI_APICallError: You exceeded your current quota."` + "\n" +
		`timestamp=2026-01-01T00:00:02.000Z level=ERROR run=1 message="stream error" providerID=s small=true agent=title error.error="Unauthorized"` + "\n"
	for _, test := range []struct {
		name, stdout, stderr string
		ending               process.Ending
		exit                 int
		code                 agent.FailureCode
		message, denied      string
	}{
		{name: "a tool that nobody may be asked for ends the work", stdout: begin + tool("bash", `{"command":"ls"}`, rejected) + `{"type":"step_finish","part":{"reason":"tool-calls"}}`,
			code: agent.Crashed, message: "not allowed to use bash", denied: "bash"},
		{name: "one that a rule denies, twice, does not", stdout: begin + strings.Repeat(tool("edit", `{}`, "The user has specified a rule which prevents you from using this specific tool call."), 2) + begin +
			`{"type":"text","part":{"text":"so"}}` + "\n" + stop, denied: "edit"},
		{name: "an error of a tool's own is none of permissions", stdout: begin + tool("bash", `{}`, "exit 1") + begin + `{"type":"text","part":{"text":"so"}}` + "\n" + stop},
		{name: "a step that ended well in a program that did not", stdout: begin + stop, exit: 1, code: agent.Crashed, message: "exited with code 1"},
		{name: "an error after a step that ended well", stdout: begin + stop + `{"type":"error","error":{"name":"ContextOverflowError"}}`, code: agent.Overflowed, message: "ContextOverflowError"},
		{name: "an answer that is cut off", stdout: begin + `{"type":"step_finish","part":{"reason":"length"}}`, code: agent.Crashed, message: "cut off"},
		{name: "a limit that it waits for in silence", stderr: asked, ending: process.Idled, code: agent.UsageLimited, message: "printed nothing for 1m0s: opencode was going to try again: AI_APICallError: You exceeded"},
		{name: "a limit while there was no time left", stderr: asked, ending: process.TimedOut, code: agent.RateLimited, message: "had not ended"},
		{name: "a limit before its last words", stdout: strings.Replace(begin, "1767225600000", "1767225699000", 1), stderr: asked, ending: process.Idled, code: agent.Hung},
		{name: "a conversation that it does not know", stderr: "Error: Session not found", exit: 1, code: agent.Lost, message: "any more"},
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
		})
	}
}
