package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"signalbox/internal/health"
	"signalbox/internal/registry"
)

// sweptUpdate is one acknowledged update that is cut off at each of its system
// calls. An update adds one to what count finds.
type sweptUpdate struct {
	// file is what must be its old self, byte for byte, or the new document; empty for several files.
	file   string
	before func(t *testing.T, s *Store)
	begin  beginning
	// count reads strictly what the updates made, and checks its rules.
	count func(ctx context.Context, s *Store) (int, error)
	// needless are the calls that this update may survive the failure of, beside those that each may.
	needless []string
}

// beginning does what comes before an update and is not cut off.
type beginning func(ctx context.Context, s *Store) (update func() error, err error)

const sweptIssue = 7

var sweptUpdates = map[string]sweptUpdate{
	"environments": {file: "environments.json", before: updated(beginEnvironment), begin: beginEnvironment, count: countEnvironments},
	"first status": {file: statusDir + "/7.json", begin: beginStatus, count: countStatus},
	"status":       {file: statusDir + "/7.json", before: updated(beginStatus), begin: beginStatus, count: countStatus},
	"removal":      {before: threeStatuses, begin: beginRemoval, count: countRemovals},
	"health":       {file: "state.json", before: updated(beginHealth), begin: beginHealth, count: countHealth},
	"stage":        {file: RunDir(testRef) + "/" + stageFile, before: aRun, begin: beginSave, count: countTransitions},
	"new run":      {before: updated(beginRun), begin: beginRun, count: countRuns},
	"lock":         {before: updated(beginLock), begin: beginLock, count: countEpochs},
	// The name of the host is found elsewhere too; the size of a file of the kernel is not known anyway.
	"new project": {before: emptyProjects, begin: beginProject, count: countProjects, needless: []string{"uname", "fstat"}},
}

// aRun makes the test's run and releases it.
func aRun(t *testing.T, s *Store) {
	t.Helper()
	w, _ := createRun(t, s)
	_ = w.Close()
}

// updated does one update.
func updated(begin beginning) func(t *testing.T, s *Store) {
	return func(t *testing.T, s *Store) {
		t.Helper()
		update, err := begin(t.Context(), s)
		if err == nil {
			err = update()
		}
		if err != nil {
			t.Fatalf("update: %v", err)
		}
	}
}

func beginEnvironment(ctx context.Context, s *Store) (func() error, error) {
	return func() error {
		return s.Environments().Update(ctx, func(doc *registry.Environments) error {
			n := len(doc.Environments) + 1
			return doc.Register(registry.Environment{EnvID: fmt.Sprintf("env-%d", n), IssueNumber: n, Branch: "b", Title: "t"}, testStart)
		})
	}, nil
}

func countEnvironments(ctx context.Context, s *Store) (int, error) {
	doc, err := s.Environments().Load(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for i, env := range doc.Environments {
		if env.EnvID != fmt.Sprintf("env-%d", i+1) {
			err = errors.Join(err, fmt.Errorf("entry %d is %s", i, env.EnvID))
		}
	}
	return len(doc.Environments), err
}

func beginStatus(ctx context.Context, s *Store) (func() error, error) {
	return func() error {
		return s.IssueStatus(sweptIssue).Update(ctx, func(status *registry.IssueStatus) error {
			n, _ := strconv.Atoi(status.ErrorMessage)
			status.Status, status.ErrorMessage, status.Timestamp = registry.IssueError, fmt.Sprint(n+1), testStart
			return nil
		})
	}, nil
}

func countStatus(ctx context.Context, s *Store) (int, error) {
	status, err := s.IssueStatus(sweptIssue).Load(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(status.ErrorMessage)
}

func threeStatuses(t *testing.T, s *Store) {
	t.Helper()
	for issue := range 3 {
		if err := s.IssueStatus(issue+1).Update(t.Context(), func(status *registry.IssueStatus) error {
			status.Status = registry.IssueComplete
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func beginRemoval(ctx context.Context, s *Store) (func() error, error) {
	all, err := s.IssueStatuses(ctx)
	if err != nil || len(all) == 0 {
		return nil, errors.Join(err, errors.New("no status to remove"))
	}
	return func() error { return s.IssueStatus(all[0].Issue).Remove(ctx) }, nil
}

func countRemovals(ctx context.Context, s *Store) (int, error) {
	all, err := s.IssueStatuses(ctx)
	for _, entry := range all {
		err = errors.Join(err, entry.Err)
	}
	return 3 - len(all), err
}

func beginHealth(ctx context.Context, s *Store) (func() error, error) {
	return func() error {
		return s.Health().Update(ctx, func(h *health.State) error { h.RunCount++; return nil })
	}, nil
}

func countHealth(ctx context.Context, s *Store) (int, error) {
	h, err := s.Health().Load(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return h.RunCount, mustNotShrink(ctx, s, h.RunCount)
}

// mustNotShrink breaks a copy of what lies on disk, first state.json and then its backup too: what comes
// back has counted as much, or one more that nobody was told of.
func mustNotShrink(ctx context.Context, s *Store, count int) error {
	dir, err := os.MkdirTemp("", "signalbox-broken-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.CopyFS(dir, os.DirFS(s.path)); err != nil {
		return err
	}
	other, err := Open(ctx, Config{Root: dir})
	if err != nil {
		return err
	}
	defer func() { _ = other.Close() }()
	for _, file := range []string{"state.json", "state.json.bak"} {
		err = errors.Join(os.WriteFile(filepath.Join(dir, "state.json"), []byte("{"), 0o600), os.WriteFile(filepath.Join(dir, file), []byte("{"), 0o600))
		h, restored, loadErr := other.Health().LoadOrBackup(ctx)
		if err = errors.Join(err, loadErr); err != nil {
			return err
		}
		if restored.Backup != (file == "state.json") || h.RunCount != count && h.RunCount != count+1 {
			return fmt.Errorf("with %s broken, %d passes came back of %d (%+v)", file, h.RunCount, count, restored)
		}
	}
	return nil
}

// emptyProjects are folders that become projects, one by one.
func emptyProjects(t *testing.T, s *Store) {
	t.Helper()
	for n := range 3 {
		if err := os.Mkdir(filepath.Join(s.path, fmt.Sprint(n)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func beginProject(ctx context.Context, s *Store) (func() error, error) {
	n, err := countProjects(ctx, s)
	return func() error {
		project, err := Open(ctx, Config{Root: filepath.Join(s.path, fmt.Sprint(n))})
		if err != nil {
			return err
		}
		return project.Close()
	}, err
}

func countProjects(_ context.Context, s *Store) (n int, err error) {
	made, err := filepath.Glob(filepath.Join(s.path, "?", locksDir))
	for _, dir := range made {
		ignored, readErr := os.ReadFile(filepath.Join(strings.TrimSuffix(dir, locksDir), privateDir, ".gitignore"))
		if err = errors.Join(err, readErr); string(ignored) != ignoreFile {
			err = errors.Join(err, fmt.Errorf("project with .gitignore %q", ignored))
		}
	}
	return len(made), err
}
