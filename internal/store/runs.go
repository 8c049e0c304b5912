package store

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"

	"signalbox/internal/lazy"
	"signalbox/internal/workflow"
)

// Names within a run's folder.
const (
	stageFile  = "stage.json"
	planFile   = "planning.json"
	reportFile = "report.md"
	errorsFile = "errors.json"
	eventsFile = "events.jsonl"
	logsDir    = "logs"
	patchesDir = "patches"
	runLock    = ".lock"
)

var (
	requestIDPattern = lazy.Pattern(`^[A-Z0-9][A-Za-z0-9._-]{0,63}$`)
	runIDPattern     = lazy.Pattern(`^\d{8}-\d{6}-[0-9a-f]{6}$`)
)

// RunDir returns a run's folder, a slash path below the project root.
func RunDir(ref workflow.RunRef) string { return runsDir + "/" + ref.RequestID + "/" + ref.RunID }

// validateRun returns ErrName if r isn't a run's name: its parts become names of folders only after this.
func validateRun(r workflow.RunRef) error {
	if err := validateRequestID(r.RequestID); err != nil {
		return err
	}
	if !runIDPattern().MatchString(r.RunID) {
		return fmt.Errorf("run id %q: %w", r.RunID, ErrName)
	}
	return nil
}

func validateRequestID(id string) error {
	if !requestIDPattern().MatchString(id) || strings.Contains(id, "..") {
		return fmt.Errorf("request id %q: %w", id, ErrName)
	}
	return nil
}

// NewRunID makes YYYYMMDD-HHMMSS-xxxxxx in UTC; the random part keeps ids apart
// when the clock is set back.
func NewRunID(now time.Time, random io.Reader) (string, error) {
	var part [3]byte
	if _, err := io.ReadFull(random, part[:]); err != nil {
		return "", fmt.Errorf("draw run id: %w", err)
	}
	return now.UTC().Format("20060102-150405-") + hex.EncodeToString(part[:]), nil
}

// Stage returns a run's stage.json. Only Signal and the run's RunWriter change it.
func (s *Store) Stage(ref workflow.RunRef) *Document[workflow.Run] {
	return &Document[workflow.Run]{store: s, dir: RunDir(ref), name: stageFile, file: publicFile, version: workflow.RunVersion,
		err: validateRun(ref), fix: fixRun, check: func(run *workflow.Run) error { return checkRun(ref, run) }}
}

func checkRun(ref workflow.RunRef, run *workflow.Run) error {
	if workflow.RefOf(run) != ref {
		return &workflow.InvalidError{Pointer: "/request_id",
			Reason: fmt.Sprintf("request_id and run_id say %s in the folder of %s", workflow.RefOf(run), ref)}
	}
	return run.Validate()
}

// fixRun gives errors of older writers an existing category (INTERNAL is read as EXECUTION) and next steps that are data.
func fixRun(run *workflow.Run) {
	fixError(run.Error)
	for i := range run.Steps {
		fixError(run.Steps[i].Error)
	}
}

func fixError(e *workflow.Error) {
	if e == nil {
		return
	}
	if e.Category == "INTERNAL" {
		e.Category = workflow.CategoryExecution
	}
	e.TakeActions()
}

// errors returns a run's errors.json. WriteErrors changes it.
func (s *Store) errors(ref workflow.RunRef) *Document[workflow.Error] {
	return &Document[workflow.Error]{store: s, dir: RunDir(ref), name: errorsFile, file: publicFile, err: validateRun(ref),
		fix: fixError, check: checkError}
}

func checkError(e *workflow.Error) error {
	if e.ReasonCode == "" || len(e.Next) == 0 {
		return &workflow.InvalidError{Reason: "an error needs a reason_code and at least one action"}
	}
	return nil
}

// Plan returns a run's planning.json.
func (s *Store) Plan(ref workflow.RunRef) *Document[workflow.Plan] {
	return &Document[workflow.Plan]{store: s, dir: RunDir(ref), name: planFile, file: publicFile, err: validateRun(ref)}
}

// LoadPlan reads a run's planning.json.
func (s *Store) LoadPlan(ctx context.Context, ref workflow.RunRef) (workflow.Plan, error) {
	return s.Plan(ref).Load(ctx)
}

// Signal changes a run's signals on behalf of a person or a UI, and nothing else of the run.
func (s *Store) Signal(ctx context.Context, ref workflow.RunRef, change func(*workflow.Signals) error) error {
	return s.Stage(ref).Update(ctx, func(run *workflow.Run) error { return change(&run.Signals) })
}

// LoadRun reads a run.
func (s *Store) LoadRun(ctx context.Context, ref workflow.RunRef) (workflow.Run, error) {
	return s.Stage(ref).Load(ctx)
}
