package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/wire"
)

func newIssueCleanup(a *invocation) *cobra.Command {
	clean := issueCleanup{invocation: a}
	var orphans bool
	c := &cobra.Command{
		Use:   "cleanup --orphans",
		Short: "Delete the status of issues without a folder",
		Long: "Remove the records that \"signalbox issue orphans\" lists. Kept are complete and error for 7 days, because somebody\n" +
			"may still wait for them (--all removes these too), and the records of runs that are not over.\n" +
			"With keep_statuses in .signalbox/config.yaml every run does the same for complete and error of that age.",
		Example: "  signalbox issue cleanup --orphans --dry-run\n  signalbox issue cleanup --orphans",
		RunE: func(c *cobra.Command, _ []string) error {
			if !orphans {
				return &problem.Error{Err: errors.New("what to clean up is not said"), Hint: "signalbox issue cleanup --orphans", Code: problem.Usage}
			}
			return wire.Explained(clean.run(c.Context()))
		},
	}
	c.Flags().BoolVar(&orphans, "orphans", false, "the records without a folder in .worktrees")
	c.Flags().BoolVar(&clean.all, "all", false, "also complete and error of the last 7 days")
	c.Flags().BoolVarP(&clean.dry, "dry-run", "n", false, "only say what would be removed")
	return c
}

type issueCleanup struct {
	*invocation
	all, dry bool
	// keep is keep_statuses when the configuration, and not a typed command, asks for the clean-up.
	keep time.Duration
}

// forgetStatuses applies keep_statuses: it removes the statuses of issues that ended longer ago and have no folder left. An error here
// fails no run.
func (p *project) forgetStatuses(ctx context.Context) {
	if p.Config.KeepStatuses == 0 {
		return
	}
	clean := issueCleanup{invocation: p.silent(), keep: p.Config.KeepStatuses}
	if err := clean.in(ctx, p.Store); err != nil {
		p.Log.Warn("old statuses are not removed", "err", err)
	}
}

func (c *issueCleanup) run(ctx context.Context) error {
	s, err := c.OpenStoreToChange(ctx, c.dry)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	return c.in(ctx, s)
}

func (c *issueCleanup) in(ctx context.Context, s *store.Store) error {
	orphans, err := orphanedIssues(ctx, s)
	if err != nil {
		return err
	}
	live, err := liveIssues(ctx, s)
	if err != nil {
		return err
	}
	var broken []error
	for _, n := range orphans {
		broken = append(broken, c.one(ctx, s.IssueStatus(n), live[n]))
	}
	return errors.Join(broken...)
}

func (c *issueCleanup) one(ctx context.Context, doc *store.Document[registry.IssueStatus], live bool) error {
	var kept string
	var n int
	wanted := func(s *registry.IssueStatus) bool {
		n = s.Issue
		switch {
		case live:
			kept = "its run is not over"
		case c.keep > 0 && !s.Expired(now(), c.keep):
			kept = "it is not old enough"
		case s.Retained(now()) && !c.all:
			kept = fmt.Sprintf("%s, for whoever waits for it, until %s", s.Status, s.Timestamp.Add(registry.IssueRetention).Format("2006-01-02"))
		}
		return kept == "" && !c.dry
	}
	var removed bool
	var err error
	if c.dry {
		var s registry.IssueStatus
		if s, err = doc.Load(ctx); err == nil {
			wanted(&s)
		}
	} else {
		removed, err = doc.RemoveIf(ctx, wanted)
	}
	switch {
	case err != nil:
		return err
	case kept != "":
		c.print("kept %d: %s\n", n, kept)
	case removed:
		c.print("removed %d\n", n)
	case c.dry:
		c.print("would remove %d\n", n)
	}
	return nil
}

// liveIssues are the issues whose latest run may still move. Its record may be
// written before its folder is made.
func liveIssues(ctx context.Context, s *store.Store) (map[int]bool, error) {
	runs, err := s.Runs(ctx)
	live := map[int]bool{}
	for _, r := range runs { // the oldest first, so the newest has the last word
		if r.Err == nil {
			live[r.Run.Journey.Number] = !r.Run.State.Final()
		}
	}
	return live, err
}
