package workflow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"signalbox/internal/workflow/policy"
	"signalbox/internal/workflow/wording"
)

// HealthCheck is one question about the project's health, as it was configured when a repair began.
type HealthCheck struct {
	ID   string          `json:"id"`
	Kind HealthCheckKind `json:"kind"`
	// Severity is the order in which errors are fixed.
	Severity Severity `json:"severity"`
	// Command is a line for sh that succeeds if all is well.
	Command string `json:"command,omitempty"`
	// HTTP is the request to a service.
	HTTP *HealthHTTP `json:"http,omitempty"`
	// File is a log, Pattern a regular expression for the lines of it that are errors.
	File    string `json:"file,omitempty"`
	Pattern string `json:"pattern,omitempty"`
	// Rerun is a line for sh that shows on a changed tree whether the
	// check would pass, for kinds that can't run there.
	Rerun string `json:"rerun,omitempty"`
	// Recipe tells the agent what is known about such an error.
	Recipe string `json:"recipe,omitempty"`
	// TimeLimitMS is the time limit shared by all commands of one check. A check that takes longer fails.
	TimeLimitMS int64 `json:"time_limit_ms"`
	// Looks is how many times in a row the check must fail before it counts.
	Looks int `json:"looks"`
	// IntervalSec is how long a check that passed is skipped; 0 means until the next pass.
	IntervalSec int     `json:"interval_sec,omitzero"`
	Unknown     Unknown `json:",embed"`
}

// HealthHTTP is one request and the answer that is wanted.
type HealthHTTP struct {
	// Start is a line for sh that runs the service, from the project's tree and beside the request; it
	// gets a free TCP port as PORT. Empty asks a service that runs already, somewhere.
	Start string `json:"start,omitempty"`
	// URL may name the port as {port}.
	URL    string `json:"url"`
	Method string `json:"method"`
	Body   string `json:"body,omitempty"`
	// Status is the answer's, Contains a text that must be in it.
	Status   int     `json:"status"`
	Contains string  `json:"contains,omitempty"`
	Unknown  Unknown `json:",embed"`
}

// HealthCheckKind is where a check looks.
type HealthCheckKind string

const (
	HealthCommand     HealthCheckKind = "command"      // a command in the environment
	HealthService     HealthCheckKind = "http"         // a service's answer
	HealthLog         HealthCheckKind = "log"          // lines that were added to a log
	HealthBranchTests HealthCheckKind = "branch-tests" // the project's tests on the default branch
	HealthForgeCI     HealthCheckKind = "forge-ci"     // what the forge's CI last said of the default branch
)

// HealthCheckKinds lists them.
var HealthCheckKinds = []HealthCheckKind{HealthCommand, HealthService, HealthLog, HealthBranchTests, HealthForgeCI}

// InEnvironment reports whether the check looks at the project's tree, in an environment.
func (c *HealthCheck) InEnvironment() bool {
	return c.Kind == HealthCommand || c.Kind == HealthBranchTests || c.HTTP != nil && c.HTTP.Start != ""
}

// exitWait is what a program that was told to ask a service has beyond the check's time limit, to say so.
const exitWait = 5 * time.Second

// Limit is how long a look may take until it is ended from outside.
func (c *HealthCheck) Limit() time.Duration {
	limit := time.Duration(c.TimeLimitMS) * time.Millisecond
	if c.HTTP != nil && c.HTTP.Start != "" {
		return limit + exitWait
	}
	return limit
}

// Line is the line for sh that looks at a tree; empty where the project's tests do, or a service that
// has to be started.
func (c *HealthCheck) Line() string {
	if c.Kind == HealthCommand {
		return c.Command
	}
	return c.Rerun
}

// Title is the check in words, one line.
func (c *HealthCheck) Title() string {
	switch c.Kind {
	case HealthService:
		return fmt.Sprintf("%s: %s %s", c.ID, c.HTTP.Method, c.HTTP.URL)
	case HealthCommand:
		return c.ID + ": " + wording.FirstLine(c.Command)
	case HealthLog:
		return c.ID + ": " + c.File
	}
	return c.ID + ": " + strings.ReplaceAll(string(c.Kind), "-", " ")
}

// Proves reports whether tests of the run show anything: the project's own, or the check that failed.
func (s *Settings) Proves() bool { return s.HasUnitTests() || len(s.TestsE2E) > 0 }

func (s *Settings) HasUnitTests() bool { return len(s.Tests) > 0 || s.Check != nil }

// TestCommands are the tests of a change, as lines for sh: the project's own, and the failing check
// where it is one.
func (s *Settings) TestCommands() []string {
	if s.Check == nil || s.Check.Line() == "" {
		return s.Tests
	}
	return append(slices.Clone(s.Tests), s.Check.Line())
}

// Looking is how many of the TestCommands only show that nothing else broke. What comes after them, the Service included, is
// the failing check's look: it has to end within the check's Limit, or a check that failed by it would be repaired by any change.
func (s *Settings) Looking() (from int) {
	if s.Check != nil && s.Check.Kind == HealthBranchTests {
		return 0
	}
	return len(s.Tests)
}

// Service is what must be started and asked beside the TestCommands; nil if nothing.
func (s *Settings) Service() *HealthCheck {
	if s.Check == nil || s.Check.Line() != "" || s.Check.HTTP == nil || s.Check.HTTP.Start == "" {
		return nil
	}
	return s.Check
}

// AllTestCommands are the TestCommands and the end-to-end tests: what proves a merge candidate, and is known of the base.
func (s *Settings) AllTestCommands() []string { return slices.Concat(s.TestCommands(), s.TestsE2E) }

// AllTestNames are the TestNames and the end-to-end tests.
func (s *Settings) AllTestNames() []string { return slices.Concat(s.TestNames(), s.TestsE2E) }

// TestNames are the TestCommands and the Service in words, for people and for agents.
func (s *Settings) TestNames() []string {
	if service := s.Service(); service != nil {
		return append(slices.Clone(s.TestCommands()), service.Title())
	}
	return s.TestCommands()
}

// JudgedBy returns the reasons to look at a change of what judges it (see policy.Judged): the lines
// of the run's tests, and of a set-up that did not fail.
func (j *Details) JudgedBy(files []policy.FileChange) []string {
	var setUp []string
	if s := j.SetUp; s != nil && s.Status != SetUpFailed {
		setUp = append(setUp, s.Commands...)
		for _, v := range s.Verification {
			setUp = append(setUp, v.Command)
		}
	}
	return policy.Judged(append(j.Settings.AllTestCommands(), j.Settings.Stress), setUp, files)
}
