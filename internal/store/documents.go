package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"signalbox/internal/workflow"
)

// formerDir is where an older tool keeps environments.json.
const formerDir = ".opencode"

// Environments is environments.json (E1).
func (s *Store) Environments() *Document[workflow.Environments] {
	return &Document[workflow.Environments]{store: s, dir: ".", former: formerDir, name: "environments.json", file: publicFile,
		mkd: publicDir, lock: "document.environments.lock", initial: func() workflow.Environments { return workflow.Environments{} },
		mend: func(doc *workflow.Environments) { s.tell("environments.json", doc.Mend()) }, check: checkEnvironments}
}

// tell says what was mended while a document was read.
func (s *Store) tell(path string, notes []string) {
	if s != nil && s.mended != nil && len(notes) > 0 {
		s.mended(path, notes)
	}
}

func checkEnvironments(doc *workflow.Environments) error {
	seen := map[string]bool{}
	for i, env := range doc.Environments {
		if env.EnvID == "" || seen[env.EnvID] {
			return &workflow.InvalidError{Pointer: fmt.Sprintf("/environments/%d/env_id", i),
				Reason: fmt.Sprintf("environments[%d].env_id %q must be set and unique", i, env.EnvID)}
		}
		seen[env.EnvID] = true
	}
	return nil
}

// Health is state.json (H1); the version before the last write is beside it as state.json.bak (H5).
func (s *Store) Health() *Document[workflow.Health] {
	return &Document[workflow.Health]{store: s, dir: ".", name: "state.json", file: publicFile, mkd: publicDir,
		lock: "document.health.lock", initial: func() workflow.Health { return workflow.NewHealth(s.clock()) },
		check: (*workflow.Health).Check, backup: true}
}

// IssueStatus is .worktrees/.status/<issue>.json (S1).
func (s *Store) IssueStatus(issue int) *Document[workflow.IssueStatus] {
	d := &Document[workflow.IssueStatus]{store: s, dir: statusDir, name: strconv.Itoa(issue) + ".json", file: publicFile,
		mkd: publicDir, lock: "document.issue-status.lock", initial: func() workflow.IssueStatus { return workflow.IssueStatus{Issue: issue} },
		check: func(status *workflow.IssueStatus) error { return checkIssueStatus(issue, status) }}
	if issue < 1 {
		d.err = fmt.Errorf("issue number %d: %w", issue, ErrName)
	}
	return d
}

func checkIssueStatus(issue int, status *workflow.IssueStatus) error {
	words := []workflow.IssueStatusWord{workflow.IssueRunning, workflow.IssueComplete, workflow.IssueError}
	if status.Issue != issue {
		return &workflow.InvalidError{Pointer: "/issue", Reason: fmt.Sprintf("issue %d in the file of issue %d", status.Issue, issue)}
	}
	if !slices.Contains(words, status.Status) {
		return &workflow.InvalidError{Pointer: "/status", Reason: fmt.Sprintf("status %q is none of %q", status.Status, words)}
	}
	return nil
}

// IssueStatusEntry is one file of .worktrees/.status; Err if it is broken.
type IssueStatusEntry struct {
	Issue  int
	Status workflow.IssueStatus
	Err    error
}

// IssueStatuses reads every issue's status, by number.
func (s *Store) IssueStatuses(ctx context.Context) ([]IssueStatusEntry, error) {
	f, err := s.openFolder(statusDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.close()
	names, err := f.dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", statusDir, err)
	}
	var all []IssueStatusEntry
	for _, name := range names {
		base, isJSON := strings.CutSuffix(name, ".json")
		issue, err := strconv.Atoi(base)
		if isJSON && err == nil && strconv.Itoa(issue) == base && issue >= 1 {
			all = append(all, IssueStatusEntry{Issue: issue})
		}
	}
	slices.SortFunc(all, func(a, b IssueStatusEntry) int { return cmp.Compare(a.Issue, b.Issue) })
	s.readStatuses(ctx, f, all)
	// One that was removed since it was listed has no status.
	all = slices.DeleteFunc(all, func(e IssueStatusEntry) bool { return errors.Is(e.Err, fs.ErrNotExist) })
	return all, ctx.Err()
}

// readStatuses shares the files out to as many readers as there are processors.
func (s *Store) readStatuses(ctx context.Context, f *folder, all []IssueStatusEntry) {
	var readers sync.WaitGroup
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(all)) {
		readers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(all)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				_, all[i].Status, all[i].Err = s.IssueStatus(all[i].Issue).read(f)
			}
		})
	}
	readers.Wait()
}

var (
	recordKind = lazyPattern(`^[a-z][a-z-]{0,31}$`)
	recordID   = lazyPattern(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
)

// Record is a driver's private document .signalbox/<kind>/<id>.json. It starts as the zero T.
func Record[T any](s *Store, kind, id string) *Document[T] {
	d := &Document[T]{store: s, dir: privateDir + "/" + kind, name: id + ".json", file: privateFile, mkd: privateMode,
		lock: "document." + kind + ".lock", initial: func() T { var zero T; return zero }}
	if !recordKind().MatchString(kind) || !recordID().MatchString(id) || strings.Contains(id, "..") || kind == "locks" {
		d.err = fmt.Errorf("record %q of kind %q: %w", id, kind, ErrName)
	}
	return d
}

// Records lists the ids of kind, sorted.
func (s *Store) Records(ctx context.Context, kind string) ([]string, error) {
	if !recordKind().MatchString(kind) {
		return nil, fmt.Errorf("records of kind %q: %w", kind, ErrName)
	}
	entries, err := s.list(privateDir + "/" + kind)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, entry := range entries {
		if id, ok := strings.CutSuffix(entry.Name(), ".json"); ok && recordID().MatchString(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, ctx.Err()
}
