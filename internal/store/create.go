package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"signalbox/internal/workflow"
)

// CreateRun makes the run's folder and its first files. The folder appears whole
// or not at all; an existing run is fs.ErrExist.
func (s *Store) CreateRun(ctx context.Context, run *workflow.Run) error {
	ref := workflow.RefOf(run)
	if err := errors.Join(validateRun(ref), ctx.Err()); err != nil {
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
	if _, err := parent.stat(ref.RunID); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fs.ErrExist
		}
		return fmt.Errorf("create run %s: %w", ref, err)
	}
	temp := parent.temporary(ref.RunID)
	if err := s.fillRun(parent, temp, run); err != nil {
		return errors.Join(err, s.root.RemoveAll(parent.join(temp)))
	}
	if err := parent.rename(temp, ref.RunID); err != nil {
		return errors.Join(writeError(RunDir(ref), err), s.root.RemoveAll(parent.join(temp)))
	}
	if err := parent.dir.Sync(); err != nil {
		return writeError(RunDir(ref), err)
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
	first, err := s.encode(transitionOf(run, workflow.EventCreated))
	if err != nil {
		return writeError(eventsFile, err)
	}
	report := fmt.Sprintf("# %s: %s\n", run.RequestID, run.Title)
	if s.redact != nil {
		report = s.redact(report)
	}
	// In order: nothing is flushed again on a descriptor whose flush failed.
	for _, step := range []func() error{
		func() error { return dir.mkdir(logsDir, privateMode) },
		func() error { return dir.mkdir(patchesDir, publicDir) },
		func() error { return dir.put(runLock, nil, publicFile) },
		func() error { return dir.put(eventsFile, first, publicFile) },
		func() error { return dir.put(reportFile, []byte(report), publicFile) },
		func() error { return dir.put(stageFile, stage, publicFile) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
