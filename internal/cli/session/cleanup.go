package session

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/app/sessions"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/session"
)

// cleanup is one use of "session cleanup".
type cleanup struct {
	*command.Invocation
	merged, orphans, all, dry bool
	removed                   []removal
}

// removal is one session that was removed, or with --dry-run would be.
type removal struct {
	Issue int    `json:"issue"`
	Name  string `json:"session"`
	// Done is false with --dry-run.
	Done bool `json:"done"`
	// StatusKept: the status stays for some days, because a script may wait for it.
	StatusKept bool `json:"status_kept"`
	// KeptRefs hold the work that was in the environment.
	KeptRefs []string `json:"kept_refs"`
}

func newSessionCleanup(a *command.Invocation) *cobra.Command {
	clean := &cleanup{Invocation: a}
	c := &cobra.Command{
		Use: "cleanup ISSUE... | --merged | --orphans", Args: cobra.ArbitraryArgs,
		ValidArgsFunction: offerSessions(a, true, func(i *session.Info) bool { return i.EndedAt != nil }),
		RunE: func(c *cobra.Command, args []string) error {
			const hint = "one of: signalbox session cleanup ISSUE..., --merged, --orphans"
			switch named := len(args) > 0; {
			case named && (clean.merged || clean.orphans) || clean.merged && clean.orphans:
				return command.UsageError(hint, "issues, --merged and --orphans exclude each other")
			case !named && !clean.merged && !clean.orphans:
				return command.UsageError(hint, "say what to clean up")
			}
			if a.JSON { // the same without words
				quiet := *a
				quiet.Out, quiet.JSON = io.Discard, false
				clean.Invocation = &quiet
			}
			err := clean.run(c.Context(), args)
			if a.JSON && clean.removed != nil {
				err = errors.Join(err, a.PrintJSON(clean.removed))
			}
			return err
		},
	}
	c.Flags().BoolVar(&clean.merged, "merged", false, "the sessions of issues whose change is merged")
	c.Flags().BoolVar(&clean.orphans, "orphans", false, "the sessions and records of issues without a folder in .worktrees")
	c.Flags().BoolVar(&clean.all, "all", false, "also the status, although a script may wait for it")
	c.Flags().BoolVarP(&clean.dry, "dry-run", "n", false, "only say what would be removed")
	return c
}

func (c *cleanup) run(ctx context.Context, refs []string) error {
	p, err := c.Open(ctx)
	if err != nil {
		return err
	}
	all, err := sessions.Of(p.App)
	if err != nil {
		return err
	}
	var proof sessions.Proof
	switch {
	case c.merged:
		proof = (*sessions.Sessions).Merged
	case c.orphans:
		proof = (*sessions.Sessions).Orphaned
	}
	found, err := all.Over(ctx, refs, proof)
	if err != nil {
		return err
	}
	c.removed = []removal{}
	if len(found) == 0 && !c.orphans {
		c.Say("there is no session to remove")
	}
	var problems []error
	for _, x := range found {
		problems = append(problems, c.remove(ctx, p, all, x))
	}
	if c.orphans {
		problems = append(problems, app.CleanIssues(ctx, c.Opener, &app.IssueCleanup{All: c.all, Dry: c.dry, Tell: func(i app.CleanedIssue) { display.PrintCleaned(c.Invocation, i) }}))
	}
	return errors.Join(problems...)
}

func (c *cleanup) remove(ctx context.Context, p *command.Project, all *sessions.Sessions, x sessions.Over) error {
	r := removal{Issue: x.Info.Issue, Name: x.Info.Name, Done: !c.dry, StatusKept: !c.all, KeptRefs: []string{}}
	if c.dry {
		if _, _, err := all.MayRemove(ctx, x); err != nil {
			return err
		}
		c.removed = append(c.removed, r)
		c.Print("would remove #%d: %s\n", x.Info.Issue, sessions.EndOf(&x.Info))
		return nil
	}
	gone, err := all.Remove(ctx, x, c.all)
	var stopped *sessions.StoppedError
	if errors.As(err, &stopped) {
		return showStopped(p, err)
	}
	if gone.Canceled && gone.KeptRef != "" {
		c.Print("its work is on a ref\n")
		display.PrintRef(c.Invocation, "  ", gone.KeptRef)
	}
	for _, ref := range gone.Saved {
		c.Print("work that was saved earlier\n")
		display.PrintRef(c.Invocation, "  ", ref)
	}
	if gone.Branch != "" {
		c.Print("removed branch %s, which is in %s\n", gone.Branch, gone.Within)
	}
	if err != nil {
		return err
	}
	r.StatusKept, r.KeptRefs = gone.StatusKept, append(r.KeptRefs, gone.Saved...)
	if gone.KeptRef != "" {
		r.KeptRefs = append(r.KeptRefs, gone.KeptRef)
	}
	c.removed = append(c.removed, r)
	c.Print("removed #%d", x.Info.Issue)
	if gone.StatusKept {
		c.Print("; its status stays, because a script may wait for it (signalbox issue remove %d)", x.Info.Issue)
	}
	c.Print("\n")
	return nil
}
