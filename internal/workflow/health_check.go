package workflow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"signalbox/internal/workflow/wording"
)

// HealthCheck is one question about the project's health. In a run's settings it is as it was when the repair began.
type HealthCheck struct {
	ID   string          `json:"id"`
	Kind HealthCheckKind `json:"kind"`
	// Severity orders the errors: the most severe is fixed first.
	Severity Severity `json:"severity"`
	// Command is a line for sh that succeeds if all is well; only of the kind command.
	Command string `json:"command,omitempty"`
	// HTTP is the request to a service; only of the kind http.
	HTTP *HealthHTTP `json:"http,omitempty"`
	// File is a log, Pattern a regular expression for its lines that are errors; only of the kind log.
	File    string `json:"file,omitempty"`
	Pattern string `json:"pattern,omitempty"`
	// Rerun is a line for sh that shows on a changed tree whether the check would pass, for kinds that can't run there.
	Rerun string `json:"rerun,omitempty"`
	// Recipe tells the agent what is known about this error.
	Recipe string `json:"recipe,omitempty"`
	// TimeLimitMS is the time limit shared by all commands of one check. A check that takes longer fails.
	TimeLimitMS int64 `json:"time_limit_ms"`
	// Looks is how many times in a row the check must fail before it counts.
	Looks int `json:"looks"`
	// IntervalSec is how long a check that passed is skipped; 0 means until the next pass.
	IntervalSec int     `json:"interval_sec,omitzero"`
	Unknown     Unknown `json:",embed"`
}

// HealthHTTP is one request and the expected answer.
type HealthHTTP struct {
	// Start is a line for sh that runs the service from the project's tree while the request is sent; it gets a free TCP port as PORT. Empty asks a
	// service that is running already.
	Start string `json:"start,omitempty"`
	// URL may name the port as {port}.
	URL    string `json:"url"`
	Method string `json:"method"`
	Body   string `json:"body,omitempty"`
	// Status is the expected status of the answer, Contains a text that must be in it.
	Status   int     `json:"status"`
	Contains string  `json:"contains,omitempty"`
	Unknown  Unknown `json:",embed"`
}

// HealthCheckKind says what a check looks at.
type HealthCheckKind string

const (
	HealthCommand     HealthCheckKind = "command"      // a command in the environment
	HealthService     HealthCheckKind = "http"         // a service's answer
	HealthLog         HealthCheckKind = "log"          // lines added to a log since the last look
	HealthBranchTests HealthCheckKind = "branch-tests" // the project's tests on the default branch
	HealthForgeCI     HealthCheckKind = "forge-ci"     // what the forge's CI last said of the default branch
)

// HealthCheckKinds lists every HealthCheckKind.
var HealthCheckKinds = []HealthCheckKind{HealthCommand, HealthService, HealthLog, HealthBranchTests, HealthForgeCI}

// InEnvironment reports whether the check looks at the project's tree, which needs an environment.
func (c *HealthCheck) InEnvironment() bool {
	return c.Kind == HealthCommand || c.Kind == HealthBranchTests || c.HTTP != nil && c.HTTP.Start != ""
}

// exitWait is the time beyond the check's limit in which the program that asks a service reports that the limit was reached.
const exitWait = 5 * time.Second

// Limit returns the time after which a look is killed.
func (c *HealthCheck) Limit() time.Duration {
	limit := time.Duration(c.TimeLimitMS) * time.Millisecond
	if c.HTTP != nil && c.HTTP.Start != "" {
		return limit + exitWait
	}
	return limit
}

// Line returns the line for sh that looks at a tree; empty if the project's tests do, or if a service has to be started.
func (c *HealthCheck) Line() string {
	if c.Kind == HealthCommand {
		return c.Command
	}
	return c.Rerun
}

// Title describes the check in one line.
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

// HasTests reports whether the run has tests of any kind.
func (s *Settings) HasTests() bool { return s.HasUnitTests() || len(s.TestsE2E) > 0 }

// Proves reports whether tests that the user chose prove a change: configured ones, or the check that failed. A request's own only add to them.
func (s *Settings) Proves() bool { return len(s.AllTestNames()) > len(s.OfRequest) }

// HasUnitTests reports whether tests run on each recorded change.
func (s *Settings) HasUnitTests() bool { return len(s.Tests) > 0 || s.Check != nil }

// TestCommands returns the tests of a change, as lines for sh: the project's own, and the failing check if it is such a line.
func (s *Settings) TestCommands() []string {
	if s.Check == nil || s.Check.Line() == "" {
		return s.Tests
	}
	return append(slices.Clone(s.Tests), s.Check.Line())
}

// Looking returns how many of the TestCommands only show that nothing else broke. The commands after them, and the Service, are the failing check's
// look. It has to end within the check's Limit: if more time were allowed, any change would repair a check that fails by taking too long.
func (s *Settings) Looking() (from int) {
	if s.Check != nil && s.Check.Kind == HealthBranchTests {
		return 0
	}
	return len(s.Tests)
}

// Service returns the check whose service must be started and asked besides the TestCommands; nil if there is none.
func (s *Settings) Service() *HealthCheck {
	if s.Check == nil || s.Check.Line() != "" || s.Check.HTTP == nil || s.Check.HTTP.Start == "" {
		return nil
	}
	return s.Check
}

// AllTestCommands returns the TestCommands and the end-to-end tests. They run on the base and on the merge candidate.
func (s *Settings) AllTestCommands() []string { return slices.Concat(s.TestCommands(), s.TestsE2E) }

// AllTestNames returns the TestNames and the end-to-end tests.
func (s *Settings) AllTestNames() []string { return slices.Concat(s.TestNames(), s.TestsE2E) }

// TestNames returns the TestCommands and, in words, the Service, for people and for agents.
func (s *Settings) TestNames() []string {
	if service := s.Service(); service != nil {
		return append(slices.Clone(s.TestCommands()), service.Title())
	}
	return s.TestCommands()
}
