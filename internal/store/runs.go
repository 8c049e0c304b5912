package store

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"signalbox/internal/workflow"
)

// Names within a run's folder (R18).
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
	requestIDPattern = regexp.MustCompile(`^[A-Z0-9][A-Za-z0-9._-]{0,63}$`)
	runIDPattern     = regexp.MustCompile(`^\d{8}-\d{6}-[0-9a-f]{6}$`)
)

// RunRef names a run. Both parts are names of folders, so nothing is done with
// one that Validate refuses.
type RunRef struct{ RequestID, RunID string }

// RefOf is the reference of a run that was read or is about to be created.
func RefOf(run *workflow.Run) RunRef { return RunRef{run.RequestID, run.RunID} }

func (r RunRef) String() string { return r.RequestID + "/" + r.RunID }

// Dir is the run's folder, a slash path below the project root.
func (r RunRef) Dir() string { return runsDir + "/" + r.RequestID + "/" + r.RunID }

// Artifacts are the paths that every run has from its start (R6).
func (r RunRef) Artifacts(requestPath string) workflow.Artifacts {
	return workflow.Artifacts{RequestPath: requestPath, ReportMD: r.Dir() + "/" + reportFile, LogsDir: r.Dir() + "/" + logsDir}
}

// Validate returns ErrName for what is not a run's name.
func (r RunRef) Validate() error {
	if err := validateRequestID(r.RequestID); err != nil {
		return err
	}
	if !runIDPattern.MatchString(r.RunID) {
		return fmt.Errorf("run id %q: %w", r.RunID, ErrName)
	}
	return nil
}

func validateRequestID(id string) error {
	if !requestIDPattern.MatchString(id) || strings.Contains(id, "..") {
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

// Stage is a run's stage.json. Only Signal and the run's RunWriter change it.
func (s *Store) Stage(ref RunRef) *Document[workflow.Run] {
	return &Document[workflow.Run]{store: s, dir: ref.Dir(), name: stageFile, file: publicFile, version: workflow.RunVersion,
		err: ref.Validate(), check: func(run *workflow.Run) error { return checkRun(ref, run) }}
}

func checkRun(ref RunRef, run *workflow.Run) error {
	if RefOf(run) != ref {
		return fmt.Errorf("request_id and run_id say %s in the folder of %s", RefOf(run), ref)
	}
	return run.Validate()
}

// Plan is a run's planning.json.
func (s *Store) Plan(ref RunRef) *Document[workflow.Plan] {
	return &Document[workflow.Plan]{store: s, dir: ref.Dir(), name: planFile, file: publicFile, err: ref.Validate()}
}

// Signal changes a run's signals on behalf of a person or a UI, and nothing else of the run (R8).
func (s *Store) Signal(ctx context.Context, ref RunRef, change func(*workflow.Signals) error) error {
	return s.Stage(ref).Update(ctx, func(run *workflow.Run) error { return change(&run.Signals) })
}

// CreateRun makes the run's folder with all that is there from the start. It
// appears whole or not at all; an existing run is fs.ErrExist.
func (s *Store) CreateRun(ctx context.Context, run *workflow.Run) error {
	ref := RefOf(run)
	if err := errors.Join(ref.Validate(), ctx.Err()); err != nil {
		return err
	}
	if err := checkRun(ref, run); err != nil {
		return fmt.Errorf("create run %s: %w", ref, err)
	}
	parent, err := s.makeFolder(runsDir+"/"+ref.RequestID, publicDir)
	if err != nil {
		return err
	}
	defer parent.close()
	if err := s.sweep(parent.path); err != nil {
		return err
	}
	if _, err := parent.stat(ref.RunID); err == nil {
		return fmt.Errorf("create run %s: %w", ref, fs.ErrExist)
	}
	temp := parent.temporary(ref.RunID)
	if err := s.fillRun(parent, temp, run); err != nil {
		return errors.Join(err, s.root.RemoveAll(parent.join(temp)))
	}
	if err := errors.Join(parent.rename(temp, ref.RunID), parent.sync()); err != nil {
		return errors.Join(writeError(ref.Dir(), err), s.root.RemoveAll(parent.join(temp)))
	}
	return nil
}

func (s *Store) fillRun(parent *folder, name string, run *workflow.Run) error {
	if err := parent.mkdir(name, publicDir); err != nil {
		return err
	}
	dir, err := s.openFolder(parent.join(name))
	if err != nil {
		return err
	}
	defer dir.close()
	stage, err := s.encode(run, indented)
	if err != nil {
		return writeError(stageFile, err)
	}
	first, err := s.encode(transitionOf(run, Transition{Event: "Created"}))
	if err != nil {
		return writeError(eventsFile, err)
	}
	report := fmt.Sprintf("# %s: %s\n", run.RequestID, run.Title)
	return errors.Join(
		dir.mkdir(logsDir, privateMode), dir.mkdir(patchesDir, publicDir),
		dir.put(runLock, nil, publicFile), dir.put(eventsFile, first, publicFile),
		dir.put(reportFile, []byte(s.masked(report)), publicFile), dir.put(stageFile, stage, publicFile))
}

func (s *Store) masked(text string) string {
	if s.redact == nil {
		return text
	}
	return s.redact(text)
}

// RunSummary is one run of a listing; Err says why it cannot be read.
type RunSummary struct {
	Ref RunRef
	Run workflow.Run
	Err error
}

// Runs reads every run, by request and then from the oldest to the newest. What
// else is in the folder is not looked at.
func (s *Store) Runs(ctx context.Context) ([]RunSummary, error) {
	requests, err := s.list(runsDir)
	if err != nil {
		return nil, err
	}
	var all []RunSummary
	for _, request := range requests {
		refs, err := s.runsOf(request.Name())
		if errors.Is(err, ErrName) || !request.IsDir() {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			run, err := s.Stage(ref).Load(ctx)
			all = append(all, RunSummary{ref, run, err})
		}
	}
	slices.SortFunc(all, func(a, b RunSummary) int {
		return cmp.Or(cmp.Compare(a.Ref.RequestID, b.Ref.RequestID), cmp.Compare(a.Ref.RunID, b.Ref.RunID))
	})
	return all, nil
}

// LatestRun reads the newest run of a request; fs.ErrNotExist if it has none.
func (s *Store) LatestRun(ctx context.Context, requestID string) (RunSummary, error) {
	refs, err := s.runsOf(requestID)
	if err != nil {
		return RunSummary{}, err
	}
	if len(refs) == 0 {
		return RunSummary{}, fmt.Errorf("run of request %s: %w", requestID, fs.ErrNotExist)
	}
	latest := slices.MaxFunc(refs, func(a, b RunRef) int { return cmp.Compare(a.RunID, b.RunID) })
	run, err := s.Stage(latest).Load(ctx)
	return RunSummary{latest, run, err}, nil
}

func (s *Store) runsOf(requestID string) ([]RunRef, error) {
	if err := validateRequestID(requestID); err != nil {
		return nil, err
	}
	entries, err := s.list(runsDir + "/" + requestID)
	if err != nil {
		return nil, err
	}
	var refs []RunRef
	for _, entry := range entries {
		if ref := (RunRef{requestID, entry.Name()}); entry.IsDir() && ref.Validate() == nil {
			refs = append(refs, ref)
		}
	}
	return refs, nil
}
