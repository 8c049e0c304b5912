// Package heal owns a pass of the self-healing loop's repair layer: it checks the project's health, has a run repair each error, and reports facts.
// The meaning of the facts belongs to package health; how a run is performed is passed in. Only one pass runs at a time, and heal itself writes
// nothing to the project.
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

// Config is what a pass needs. All fields but Branch, Observe and Logger are required.
type Config struct {
	Store *store.Store
	Forge forge.Forge
	// Checks are the configured health checks. Tests are the project's own, for checks of kind branch-tests.
	Checks []workflow.HealthCheck
	Tests  []string
	// Every is the interval between two looks at a healthy project.
	Every time.Duration
	// Unattended: the project's folder is deleted after the pass, so no one can approve a run that waits there. Such a run counts as failed;
	// otherwise every pass would pay for the same change.
	Unattended bool
	// Root is the project's folder.
	Root string
	// Place makes a place at the default branch's commit, for checks that need the project's tree.
	Place func(context.Context) (Place, error)
	// Ask returns the command that starts a service in a place and asks it.
	Ask func(workflow.HealthCheck) process.Command
	// Branch returns CI's last result for the default branch. It is nil if the forge has no CI.
	Branch func(context.Context) (forge.Check, error)
	// Run runs the repair as far as possible without a person, and returns the run.
	Run    func(context.Context, Repair) (workflow.Run, error)
	Redact *redact.Redactor
	Clock  func() time.Time
	// ID returns the id for a new pass.
	ID func() string
	// Observe is called with each line of progress.
	Observe func(string)
	Logger  *slog.Logger
}

// Place is where a check's commands run.
type Place interface {
	process.Executor
	// Dir is the project's folder as the commands see it.
	Dir() string
	Close(context.Context) error
}

// Repair is one attempt to have an error repaired.
type Repair struct {
	Request forge.Request
	Check   workflow.HealthCheck
	// Judged is the id of the previous attempt's run, which is over; empty if there was none.
	Judged string
}

// ErrNoChecks: no health check is configured.
var ErrNoChecks = errors.New("no health check is configured")

// Report is the result of a pass.
type Report struct {
	Result health.Result `json:"result"`
	// Pass is what the pass did, nil if nothing. Looks are the verdicts of its checks.
	Pass  *health.Pass `json:"pass,omitempty"`
	Looks []Look       `json:"checks,omitempty"`
	// Health is the state after the pass.
	Health health.State `json:"state"`
	// Restored says how an unreadable state.json was replaced.
	Restored store.Restoration `json:"-"`
	// Every is the interval that applied.
	Every time.Duration `json:"-"`
}
