package agenttest

import (
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// Printed is what a program might print that no recording has, and what that has to come to.
type Printed struct {
	Name           string
	Stdout, Stderr string
	// Ending is process.Exited where it is empty.
	Ending process.Ending
	Exit   int
	// Code, Message and Until are as in Outcome; Answer is checked if it isn't empty.
	Code                   agent.FailureCode
	Message, Until, Answer string
	// Denied are the tools that it was not allowed to use.
	Denied string
}

// Ends holds the driver to what each of these has to come to.
func (d Driver) Ends(t *testing.T, all []Printed) {
	for _, p := range all {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			if p.Ending == "" {
				p.Ending = process.Exited
			}
			result, kinds := d.Replay(t, Recorded{Stdout: []byte(p.Stdout), Stderr: p.Stderr, Ending: p.Ending, ExitCode: p.Exit}, nil)
			CheckFailure(t, result, p.Code, p.Message)
			checkUntil(t, result, p.Until)
			if p.Answer != "" && result.Answer != p.Answer {
				t.Errorf("Answer = %q, want %q", result.Answer, p.Answer)
			}
			if got := strings.Join(result.Denied, " "); got != p.Denied || (got != "") != strings.Contains(kinds, string(agent.PermissionDenied)) {
				t.Errorf("Denied = %q, want %q; entries %s", got, p.Denied, kinds)
			}
		})
	}
}
