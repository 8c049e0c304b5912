package gemini_test

import (
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/gemini"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/process"
)

func FuzzReader(f *testing.F) {
	for _, name := range modeltest.Cases(f, "gemini") {
		f.Add(modeltest.Recorded(f, "gemini", name).Stdout)
	}
	f.Add([]byte(`{"type":"tool_result","tool_id":7,"error":"no"}` + "\n" + `{"type":"result","status":"error","stats":[]}`))
	f.Fuzz(gemini.ReadAnything)
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
	for _, test := range []struct {
		name, stdout, stderr string
		ending               process.Ending
		exit                 int
		code                 agent.FailureCode
		message, denied      string
	}{
		{name: "a tool that a policy denies", stdout: denied("policy_violation", "Tool execution denied by policy."), denied: "write_file"},
		{name: "a file that it may not write while it plans", stdout: denied("invalid_tool_params", "Access denied: plan path (/work/x) must be within"), denied: "write_file"},
		{name: "an error of a tool's own is none of permissions", stdout: denied("file_not_found", "there is no x")},
		{name: "a status that is told by the exit code alone", stdout: result("[API Error: no]"), exit: 429 % 256, code: agent.RateLimited, message: "no"},
		{name: "a login that it does not have", stdout: result("Please set an Auth method"), exit: 41, code: agent.Unauthorized},
		{name: "an error that it does not tell", stdout: begin + `{"type":"result","status":"error"}`, code: agent.Crashed, message: "does not tell"},
		{name: "an answer without a last word", stdout: begin + said("so"), code: agent.Crashed, message: "without saying that it had finished"},
		{name: "a retry that a deadline ended", stdout: begin, stderr: "Attempt 1 failed with status 503. Retrying with backoff... _ApiError: x", ending: process.Idled,
			code: agent.ModelFailed, message: "printed nothing for 1m0s: Gemini CLI was going to try again"},
		{name: "one because of a limit", stdout: begin, stderr: "Attempt 1 failed: You exceeded your current quota, please check", ending: process.TimedOut, code: agent.RateLimited, message: "had not ended"},
		{name: "a conversation that it does not know", stderr: "Error resuming session: Invalid session identifier", exit: 42, code: agent.Lost, message: "any more"},
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
