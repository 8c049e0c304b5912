package opencode_test

import (
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/process"
)

func FuzzReader(f *testing.F) {
	driver.ReadsAnything(f, `{"type":"tool_use","part":{"tool":7,"state":{"input":[1],"status":null}}}`+"\n"+`{"type":"error","error":"no"}`)
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
	driver.Ends(t, []agenttest.Printed{
		{Name: "a tool that nobody may be asked for ends the work", Stdout: begin + tool("bash", `{"command":"ls"}`, rejected) + `{"type":"step_finish","part":{"reason":"tool-calls"}}`,
			Code: agent.Crashed, Message: "not allowed to use bash", Denied: "bash"},
		{Name: "one that a rule denies, twice, does not", Stdout: begin + strings.Repeat(tool("edit", `{}`, "The user has specified a rule which prevents you from using this specific tool call."), 2) + begin +
			`{"type":"text","part":{"text":"so"}}` + "\n" + stop, Denied: "edit"},
		{Name: "an error of a tool's own is none of permissions", Stdout: begin + tool("bash", `{}`, "exit 1") + begin + `{"type":"text","part":{"text":"so"}}` + "\n" + stop},
		{Name: "a step that ended well in a program that did not", Stdout: begin + stop, Exit: 1, Code: agent.Crashed, Message: "exited with code 1"},
		{Name: "an error after a step that ended well", Stdout: begin + stop + `{"type":"error","error":{"name":"ContextOverflowError"}}`, Code: agent.Overflowed, Message: "ContextOverflowError"},
		{Name: "an answer that is cut off", Stdout: begin + `{"type":"step_finish","part":{"reason":"length"}}`, Code: agent.Crashed, Message: "cut off"},
		{Name: "a limit that it waits for in silence", Stderr: asked, Ending: process.Idled, Code: agent.UsageLimited, Message: "printed nothing for 1m0s: opencode was about to retry: AI_APICallError: You exceeded"},
		{Name: "a limit while there was no time left", Stderr: asked, Ending: process.TimedOut, Code: agent.RateLimited, Message: "had not ended"},
		{Name: "a limit before its last words", Stdout: strings.Replace(begin, "1767225600000", "1767225699000", 1), Stderr: asked, Ending: process.Idled, Code: agent.Hung},
		{Name: "a conversation that it does not know", Stderr: "Error: Session not found", Exit: 1, Code: agent.Lost, Message: "no longer knows"},
		{Name: "nothing at all", Code: agent.Crashed, Message: "without saying that it had finished"},
	})
}
