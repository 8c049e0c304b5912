package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// IssueStatus returns .worktrees/.status/<issue>.json.
func (s *Store) IssueStatus(issue int) *Document[registry.IssueStatus] {
	d := &Document[registry.IssueStatus]{store: s, dir: statusDir, name: strconv.Itoa(issue) + ".json", file: publicFile,
		mkd: publicDir, lock: "document.issue-status.lock", initial: func() registry.IssueStatus { return registry.IssueStatus{Issue: issue} },
		check: func(status *registry.IssueStatus) error { return checkIssueStatus(issue, status) }}
	if issue < 1 {
		d.err = fmt.Errorf("issue number %d: %w", issue, ErrName)
	}
	return d
}

func checkIssueStatus(issue int, status *registry.IssueStatus) error {
	if status.Issue != issue {
		return &workflow.InvalidError{Pointer: "/issue", Reason: fmt.Sprintf("issue %d in the file of issue %d", status.Issue, issue)}
	}
	if !slices.Contains(statusWords, status.Status) {
		return &workflow.InvalidError{Pointer: "/status", Reason: fmt.Sprintf("status %q is none of %q", status.Status, statusWords)}
	}
	return nil
}

// statusWords are the words that a file may contain.
var statusWords = []registry.IssueStatusWord{registry.IssueRunning, registry.IssueComplete, registry.IssueError}

// IssueStatusEntry is one file of .worktrees/.status; Err if it is broken.
type IssueStatusEntry struct {
	Issue  int
	Status registry.IssueStatus
	Err    error
}

// IssueStatuses reads every issue's status, by number. All processors share the
// work: opening a file takes longer than decoding it.
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
		if issue, err := strconv.Atoi(base); isJSON && err == nil && issue >= 1 && base == strconv.Itoa(issue) {
			all = append(all, IssueStatusEntry{Issue: issue})
		}
	}
	slices.SortFunc(all, func(a, b IssueStatusEntry) int { return a.Issue - b.Issue })
	readers := runtime.GOMAXPROCS(0)
	var reading sync.WaitGroup
	for first := range readers {
		reading.Go(func() {
			for i := first; i < len(all) && ctx.Err() == nil; i += readers {
				_, all[i].Status, all[i].Err = s.IssueStatus(all[i].Issue).read(f)
			}
		})
	}
	reading.Wait()
	// A file that was removed since it was listed has no status.
	return slices.DeleteFunc(all, func(e IssueStatusEntry) bool { return errors.Is(e.Err, fs.ErrNotExist) }), ctx.Err()
}
