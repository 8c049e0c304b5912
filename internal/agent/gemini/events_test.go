package gemini_test

import (
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/process"
)

func FuzzReader(f *testing.F) {
	driver.ReadsAnything(f, `{"type":"tool_result","tool_id":7,"error":"no"}`+"\n"+`{"type":"result","status":"error","stats":[]}`)
}

const (
	begin = `{"type":"init","session_id":"0-a","model":"m"}` + "\n"
	over  = `{"type":"result","status":"success"}` + "\n"
)

func result(problem string) string {
	return begin + `{"type":"result","status":"error","error":{"type":"unknown","message":"` + problem + `"}}`
}

func denied(kind, problem string) string {
	return begin + `{"type":"tool_use","tool_name":"write_file","tool_id":"c1","parameters":{"content":"x"}}` + "\n" +
		`{"type":"tool_result","tool_id":"c1","status":"error","error":{"type":"` + kind + `","message":"` + problem + `"}}` + "\n" + said("so") + over
}

func TestEndings(t *testing.T) {
	t.Parallel()
	driver.Ends(t, []agenttest.Printed{
		{Name: "a tool that a policy denies", Stdout: denied("policy_violation", "Tool execution denied by policy."), Denied: "write_file"},
		{Name: "a file that it may not write while it plans", Stdout: denied("invalid_tool_params", "Access denied: plan path (/work/x) must be within"), Denied: "write_file"},
		{Name: "an error of a tool's own is none of permissions", Stdout: denied("file_not_found", "there is no x")},
		{Name: "a status that is told by the exit code alone", Stdout: result("[API Error: no]"), Exit: 429 % 256, Code: agent.RateLimited, Message: "no"},
		{Name: "a login that it does not have", Stdout: result("Please set an Auth method"), Exit: 41, Code: agent.Unauthorized},
		{Name: "an error that it does not tell", Stdout: begin + `{"type":"result","status":"error"}`, Code: agent.Crashed, Message: "unknown error"},
		{Name: "an answer without a last word", Stdout: begin + said("so"), Code: agent.Crashed, Message: "without saying that it had finished"},
		{Name: "a retry that a deadline ended", Stdout: begin, Stderr: "Attempt 1 failed with status 503. Retrying with backoff... _ApiError: x", Ending: process.Idled,
			Code: agent.ModelFailed, Message: "printed nothing for 1m0s: Gemini CLI was about to retry"},
		{Name: "one because of a limit", Stdout: begin, Stderr: "Attempt 1 failed: You exceeded your current quota, please check", Ending: process.TimedOut, Code: agent.RateLimited, Message: "had not ended"},
		{Name: "a conversation that it does not know", Stderr: "Error resuming session: Invalid session identifier", Exit: 42, Code: agent.Lost, Message: "no longer knows"},
		{Name: "nothing at all", Code: agent.Crashed, Message: "without saying that it had finished"},
	})
}
