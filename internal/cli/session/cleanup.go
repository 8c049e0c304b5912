package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/session"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func newSessionCleanup(a *command.Invocation) *cobra.Command {
	clean := &sessionCleanup{Invocation: a}
	c := &cobra.Command{
		Use:   "cleanup ISSUE... | --merged | --orphans",
		Short: "Remove finished sessions: environment, branch, record, status",
		Long: "Remove the sessions of the issues you name, of those whose change is merged (--merged), or of those that have no\n" +
			"environment any more (--orphans). A run that hasn't ended is given up, and its environment is removed once everything in\n" +
			"it is on a ref; the branch is removed if its commits are on that ref or merged. The status is kept for 7 days, because a\n" +
			"script may wait for it (--all removes it). A running session is refused: stop it first. So is one whose run has a change\n" +
			"that waits for approval: decide first.\n" +
			"--json: issue, session, done, status_kept and kept_refs of each.",
		Example:           "  signalbox session cleanup 42\n  signalbox session cleanup --merged --dry-run\n  signalbox session cleanup --orphans",
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: offerSessions(a, true, overSession),
		RunE:              func(c *cobra.Command, args []string) error { return clean.run(c.Context(), args) },
	}
	c.Flags().BoolVar(&clean.merged, "merged", false, "the sessions of issues whose change is merged")
	c.Flags().BoolVar(&clean.orphans, "orphans", false, "the sessions and records of issues without a folder in .worktrees")
	c.Flags().BoolVar(&clean.all, "all", false, "also the status, though somebody may wait for it")
	c.Flags().BoolVarP(&clean.dry, "dry-run", "n", false, "only say what would be put away")
	return c
}

// sessionCleanup is one clean-up, as a person wants it.
type sessionCleanup struct {
	*command.Invocation
	merged, orphans, all, dry bool
	// put is what was put away, for programs.
	put []removal
}

// removal is one session that was put away, or with --dry-run would be.
type removal struct {
	Issue int    `json:"issue"`
	Name  string `json:"session"`
	// Done is false with --dry-run.
	Done bool `json:"done"`
	// StatusKept: somebody may wait for the status, which stays for some days.
	StatusKept bool `json:"status_kept"`
	// KeptRefs are where git finds what lay in the environment.
	KeptRefs []string `json:"kept_refs"`
}

// silent is the same without words, for whoever reads JSON.
func silent(a *command.Invocation) *command.Invocation {
	quiet := *a
	quiet.Out, quiet.JSON = io.Discard, false
	return &quiet
}

func (c *sessionCleanup) run(ctx context.Context, refs []string) error {
	if modes := len(refs); (modes > 0) == (c.merged || c.orphans) || c.merged && c.orphans {
		return &problem.Error{Err: errors.New("what to clean up is not said"), Code: problem.Usage,
			Hint: "one of: signalbox session cleanup ISSUE..., --merged, --orphans"}
	}
	asked := c.Invocation
	if asked.JSON {
		c.Invocation = silent(asked)
	}
	p, err := c.Open(ctx)
	if err != nil {
		return err
	}
	all, err := app.SessionsOf(p.Store)
	if err != nil {
		return err
	}
	found, err := c.chosen(ctx, p, all, refs)
	if err != nil {
		return err
	}
	if len(found) == 0 && !c.orphans {
		c.Say("no session is to be put away")
	}
	var problems []error
	for _, x := range found {
		problems = append(problems, c.one(ctx, p, x))
	}
	if c.orphans {
		problems = append(problems, command.CleanIssues(ctx, c.Invocation, &app.IssueCleanup{All: c.all, Dry: c.dry}))
	}
	if asked.JSON {
		problems = append(problems, asked.PrintJSON(append([]removal{}, c.put...)))
	}
	return errors.Join(problems...)
}

// chosen are the sessions to put away: those named, or those of which there is proof that they are done with.
func (c *sessionCleanup) chosen(ctx context.Context, p *command.Project, all *session.Sessions, refs []string) (chosen []chosenSession, err error) {
	proof := func(context.Context, *command.Project, int) (bool, error) { return true, nil }
	switch {
	case c.merged:
		proof = issueMerged
	case c.orphans:
		proof = issueOrphaned
	}
	if len(refs) == 0 {
		list, err := all.List(ctx)
		if err != nil {
			return nil, wire.Explained(err)
		}
		for _, info := range list {
			if info.EndedAt != nil {
				refs = append(refs, strconv.Itoa(info.Issue))
			}
		}
	}
	for _, ref := range refs {
		x, info, err := app.OpenSession(ctx, all, ref)
		if err != nil {
			return nil, err
		}
		if info.EndedAt == nil {
			return nil, &problem.Error{Err: fmt.Errorf("session %s has not ended", info.Name), Code: problem.Held, Hint: "end it first: signalbox session stop " + strconv.Itoa(info.Issue)}
		}
		proven, err := proof(ctx, p, info.Issue)
		if err != nil {
			return nil, wire.Explained(err)
		}
		if proven {
			chosen = append(chosen, chosenSession{x, info})
		}
	}
	return chosen, nil
}

// issueMerged: the run says so. What somebody merged without it cannot be proven and is named by them.
func issueMerged(ctx context.Context, p *command.Project, issue int) (bool, error) {
	found, err := p.Find(ctx, strconv.Itoa(issue))
	if problem.CodeOf(err) == problem.NotFound {
		return false, nil
	}
	return err == nil && found.Run.State == workflow.Done && found.Run.Details.MergeCommit != "", err
}

func issueOrphaned(ctx context.Context, p *command.Project, issue int) (bool, error) {
	live, err := app.LiveIssues(ctx, p.Store) // a run makes its environment again
	if err != nil || live[issue] {
		return false, err
	}
	folders, err := app.Worktrees(p.Store)
	return len(registry.OrphanedIssues([]int{issue}, folders)) > 0, err
}

// one puts one session away. Its record goes last: cut off before, all is done again.
func (c *sessionCleanup) one(ctx context.Context, p *command.Project, x chosenSession) error {
	n := strconv.Itoa(x.info.Issue)
	put := removal{Issue: x.info.Issue, Name: x.info.Name, Done: !c.dry, StatusKept: !c.all, KeptRefs: []string{}}
	found, err := p.Find(ctx, n)
	noRun := problem.CodeOf(err) == problem.NotFound
	if err == nil {
		err = app.Undecided(&found.Run)
	}
	switch {
	case err != nil && !noRun:
		return err
	case c.dry:
		c.put = append(c.put, put)
		c.Print("would put away #%s: %s\n", n, endOfSession(&x.info))
		return nil
	case !noRun:
		if put.KeptRefs, err = c.giveUp(ctx, p, found); err != nil {
			return err
		}
	}
	removed, err := p.Store.IssueStatus(x.info.Issue).RemoveIf(ctx, func(s *registry.IssueStatus) bool { return c.all || !s.Retained(time.Now()) })
	if err == nil {
		err = x.Remove(ctx)
	}
	if err != nil {
		return wire.Explained(err)
	}
	put.StatusKept = !removed
	c.put = append(c.put, put)
	c.Print("put away #%s", n)
	if !removed {
		c.Print("; its status stays for whoever waits for it (signalbox issue remove %s)", n)
	}
	c.Print("\n")
	return nil
}
