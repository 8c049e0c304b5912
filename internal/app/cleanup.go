package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"signalbox/internal/registry"
	"signalbox/internal/store"
)

// IssueCleanup removes the statuses that no one waits for any more.
type IssueCleanup struct {
	All, Dry bool
	// Tell hears the outcome for each.
	Tell func(CleanedIssue)
	// keep is keep_statuses, if the configuration asks for the cleanup and not the user.
	keep time.Duration
}

func (c *IssueCleanup) in(ctx context.Context, s *store.Store) error {
	orphans, err := orphanedIssues(ctx, s)
	if err != nil {
		return err
	}
	live, err := LiveIssues(ctx, s)
	if err != nil {
		return err
	}
	var broken []error
	for _, n := range orphans {
		broken = append(broken, c.one(ctx, s.IssueStatus(n), live[n]))
	}
	return errors.Join(broken...)
}

func (c *IssueCleanup) one(ctx context.Context, doc *store.Document[registry.IssueStatus], live bool) error {
	var kept string
	var n int
	wanted := func(s *registry.IssueStatus) bool {
		n = s.Issue
		switch {
		case live:
			kept = "its run is not over"
		case c.keep > 0 && !s.Expired(time.Now(), c.keep):
			kept = "it is not old enough"
		case s.Retained(time.Now()) && !c.All:
			kept = fmt.Sprintf("%s, which someone may still read, until %s", s.Status, s.Timestamp.Add(registry.IssueRetention).Format("2006-01-02"))
		}
		return kept == "" && !c.Dry
	}
	var removed bool
	var err error
	if c.Dry {
		var s registry.IssueStatus
		if s, err = doc.Load(ctx); err == nil {
			wanted(&s)
		}
	} else {
		removed, err = doc.RemoveIf(ctx, wanted)
	}
	if err != nil {
		return err
	}
	if kept != "" || removed || c.Dry {
		c.Tell(CleanedIssue{Issue: n, Kept: kept, Removed: removed})
	}
	return nil
}

// CleanedIssue is the outcome for one status: it was removed, or in a dry run would be, unless Kept says why it stays.
type CleanedIssue struct {
	Issue   int    `json:"issue"`
	Kept    string `json:"kept,omitempty"`
	Removed bool   `json:"removed"`
}

// LiveIssues are the issues whose latest run may still move. A run's record may exist before its folder does.
func LiveIssues(ctx context.Context, s *store.Store) (map[int]bool, error) {
	runs, err := s.Runs(ctx)
	live := map[int]bool{}
	for _, r := range runs { // the oldest first, so that the newest counts
		if r.Err == nil {
			live[r.Run.Details.Number] = !r.Run.State.Final()
		}
	}
	return live, err
}

// orphanedIssues have a status but no folder.
func orphanedIssues(ctx context.Context, s *store.Store) ([]int, error) {
	entries, err := s.IssueStatuses(ctx)
	if err != nil {
		return nil, err
	}
	var issues []int
	for _, entry := range entries {
		issues = append(issues, entry.Issue)
	}
	folders, err := Worktrees(s)
	if err != nil {
		return nil, err
	}
	return registry.OrphanedIssues(issues, folders), nil
}

// Worktrees are the names of the folders in .worktrees. A link counts as a folder, since it may lead to one.
func Worktrees(s *store.Store) (names []string, err error) {
	dir, err := s.Abs(".worktrees")
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the work folders: %w", err)
	}
	for _, entry := range entries {
		if entry.IsDir() || entry.Type()&fs.ModeSymlink != 0 {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}
