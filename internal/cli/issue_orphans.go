package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/wire"
)

func newIssueOrphans(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "orphans",
		Short:   "List issues that have a status but no folder in .worktrees",
		Long:    "Print the numbers of issues that have a status, but neither a folder .worktrees/issue-<n> nor any .worktrees/issue-<n>-*.",
		Example: "  signalbox issue orphans\n  signalbox issue cleanup --orphans --dry-run",
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.OpenStoreToRead(c.Context())
			if err != nil {
				return err
			}
			defer func() { _ = s.Close() }()
			orphans, err := orphanedIssues(c.Context(), s)
			if err != nil {
				return wire.Explained(err)
			}
			if a.json {
				return a.printJSON(orphans)
			}
			for _, n := range orphans {
				a.print("%d\n", n)
			}
			return nil
		},
	}
}

func orphanedIssues(ctx context.Context, s *store.Store) ([]int, error) {
	entries, err := s.IssueStatuses(ctx)
	if err != nil {
		return nil, err
	}
	var issues []int
	for _, entry := range entries {
		issues = append(issues, entry.Issue)
	}
	folders, err := worktrees(s)
	if err != nil {
		return nil, err
	}
	return registry.OrphanedIssues(issues, folders), nil
}

// worktrees are the names of the folders in .worktrees. A link counts as the
// folder that it may lead to.
func worktrees(s *store.Store) (names []string, err error) {
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
