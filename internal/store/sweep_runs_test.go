package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"signalbox/internal/engine"
	"signalbox/internal/store/strict"
	"signalbox/internal/workflow"
)

func beginSave(ctx context.Context, s *Store) (func() error, error) {
	w, run, err := s.OpenRun(ctx, testRef)
	return func() error {
		run.Details.Transition++
		return errors.Join(w.Save(ctx, &run, "Test"), w.Close())
	}, err
}

// countTransitions wants a line in events.jsonl for each.
func countTransitions(ctx context.Context, s *Store) (int, error) {
	lines, n, err := transitionsOf(ctx, s)
	if err == nil && len(lines) != n {
		err = fmt.Errorf("%d lines in %s after %d transitions", len(lines), eventsFile, n)
	}
	return n, err
}

// countSaves bears with lines that were not flushed before the power went.
func countSaves(ctx context.Context, s *Store) (int, error) {
	_, n, err := transitionsOf(ctx, s)
	return n, err
}

// transitionsOf opens the run and wants events.jsonl to end with its last transition, in order.
func transitionsOf(ctx context.Context, s *Store) (lines []Transition, n int, err error) {
	w, run, err := s.OpenRun(ctx, testRef)
	if err != nil {
		return nil, 0, err
	}
	_ = w.Close()
	text, err := os.ReadFile(filepath.Join(s.path, RunDir(testRef), eventsFile))
	if err != nil {
		return nil, 0, err
	}
	last := 0
	for text := range strings.Lines(string(text)) {
		line, err := strict.Decode[Transition]([]byte(text), "")
		if err != nil || line.Seq <= last || !strings.HasSuffix(text, "\n") {
			return nil, 0, fmt.Errorf("line after %d in %s: %q: %w", last, eventsFile, text, err)
		}
		lines, last = append(lines, line), line.Seq
	}
	if last != run.Details.Transition {
		return nil, 0, fmt.Errorf("%s ends at %d, the run is at %d", eventsFile, last, run.Details.Transition)
	}
	return lines, last, nil
}

func runNumbered(n int) workflow.Run {
	run := newRun()
	run.RunID = fmt.Sprintf("20261120-101112-%06x", n)
	return run
}

func beginRun(ctx context.Context, s *Store) (func() error, error) {
	n, err := countRuns(ctx, s)
	run := runNumbered(n)
	return func() error { return s.CreateRun(ctx, &run) }, err
}

func countRuns(ctx context.Context, s *Store) (int, error) {
	for n := 0; ; n++ {
		run := runNumbered(n)
		ref := workflow.RefOf(&run)
		if _, err := os.Stat(filepath.Join(s.path, RunDir(ref))); errors.Is(err, os.ErrNotExist) {
			return n, nil
		}
		w, _, err := s.OpenRun(ctx, ref)
		if err != nil {
			return n, err
		}
		_ = w.Close()
		for _, name := range []string{reportFile, eventsFile, logsDir, patchesDir, runLock} {
			if _, err := os.Stat(filepath.Join(s.path, RunDir(ref), name)); err != nil {
				return n, err
			}
		}
	}
}

func beginLock(ctx context.Context, s *Store) (func() error, error) {
	return func() error {
		lock, err := s.LockRequest(ctx, "RQ-1", engine.Owner{Name: "sweep"})
		if err != nil {
			return err
		}
		return lock.Release()
	}, nil
}

// countEpochs is the epoch that the next holder must exceed.
func countEpochs(_ context.Context, s *Store) (int, error) {
	record, held, err := s.probe("request-RQ-1.lock")
	if held {
		err = errors.Join(err, errors.New("the lock is held by nobody"))
	}
	return int(record.Epoch), err
}
