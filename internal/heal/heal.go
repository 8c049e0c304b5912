// Package heal owns a pass of the self-healing loop's repair layer: it looks at the project's health,
// has each error repaired by a run, and reports facts. What the facts mean is workflow's; how a run is
// carried is given to it. It refuses to look twice at once, and writes nothing to the project itself.
package heal

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/health"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// Config is what a pass works with. All but Branch, Observe and Logger are required.
type Config struct {
	Store *store.Store
	Forge forge.Forge
	// Checks are what is looked at; Tests the project's own, for checks of kind branch-tests.
	Checks []workflow.HealthCheck
	Tests  []string
	// Every is how long a healthy project is left alone.
	Every time.Duration
	// Unattended says that the project's folder is thrown away after the pass, so that nobody can approve
	// what waits there: it counts as failed, or every pass would pay for the same change.
	Unattended bool
	// Root is the project's folder.
	Root string
	// Place makes a place at the default branch's commit, for the checks that look from one.
	Place func(context.Context) (Place, error)
	// Ask is the command that starts a service in a place and asks it.
	Ask func(workflow.HealthCheck) process.Command
	// Branch is what CI last said of the default branch; nil where the forge knows of no CI.
	Branch func(context.Context) (forge.Check, error)
	// Carry brings the repair's run as far as it goes without a person, and returns it.
	Carry  func(context.Context, Repair) (workflow.Run, error)
	Redact *redact.Redactor
	Clock  func() time.Time
	// ID makes the id of a new pass.
	ID func() string
	// Observe is told what goes on, a line each time.
	Observe func(string)
	Logger  *slog.Logger
}

// Place is where commands look at the project.
type Place interface {
	process.Executor
	// Dir is the project's folder as commands see it.
	Dir() string
	Close(context.Context) error
}

// Repair is one attempt to have an error repaired.
type Repair struct {
	Request forge.Request
	Check   workflow.HealthCheck
	// Judged is the run that the attempt before ended with; empty if there was none. That one is over.
	Judged string
}

// ErrNoChecks: there is nothing to look at.
var ErrNoChecks = errors.New("no health check is configured")

// Healer performs passes. It has no state of its own: everything is in the store.
type Healer struct{ Config }

// New returns a healer.
func New(c Config) *Healer {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Observe == nil {
		c.Observe = func(string) {}
	}
	return &Healer{c}
}

// Report is what a pass came to.
type Report struct {
	Result health.Result `json:"result"`
	// Pass is what it did, nil if it did nothing; Looks are what it saw.
	Pass  *health.Pass `json:"pass,omitempty"`
	Looks []Look       `json:"checks,omitempty"`
	// Health is the state that it left.
	Health health.State `json:"state"`
	// Restored says what became of a state.json that could not be read.
	Restored store.Restoration `json:"-"`
	// Every is the interval that it went by.
	Every time.Duration `json:"-"`
}
