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
	"signalbox/internal/problem"
)

func newSessionCleanup(a *command.Invocation) *cobra.Command {
	clean := &sessionCleanup{Invocation: a}
	c := &cobra.Command{
		Use:               "cleanup ISSUE... | --merged | --orphans",
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
	if named := len(refs) > 0; named == (c.merged || c.orphans) || c.merged && c.orphans {
		why := "what to clean up is not said"
		if named || c.merged {
			why = "issues, --merged and --orphans exclude each other"
		}
		return &problem.Error{Err: errors.New(why), Code: problem.Usage,
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
	if len(found) == 0 && !c.orphans {
		c.Say("no session is to be put away")
	}
	var problems []error
	for _, x := range found {
		problems = append(problems, c.one(ctx, p, all, x))
	}
	if c.orphans {
		problems = append(problems, app.CleanIssues(ctx, c.Opener, &app.IssueCleanup{All: c.all, Dry: c.dry, Tell: func(i app.CleanedIssue) { display.PrintCleaned(c.Invocation, i) }}))
	}
	if asked.JSON {
		problems = append(problems, asked.PrintJSON(append([]removal{}, c.put...)))
	}
	return errors.Join(problems...)
}

func (c *sessionCleanup) one(ctx context.Context, p *command.Project, all *sessions.Sessions, x sessions.Over) error {
	removed := removal{Issue: x.Info.Issue, Name: x.Info.Name, Done: !c.dry, StatusKept: !c.all, KeptRefs: []string{}}
	if c.dry {
		if _, _, err := all.MayRemove(ctx, x); err != nil {
			return err
		}
		c.put = append(c.put, removed)
		c.Print("would put away #%d: %s\n", x.Info.Issue, endOfSession(&x.Info))
		return nil
	}
	put, err := all.Remove(ctx, x, c.all)
	var stopped *sessions.StoppedError
	if errors.As(err, &stopped) {
		return sayStopped(p, stopped)
	}
	if put.Canceled {
		c.sayKept(put.KeptRef, "the work is kept on a ref")
	}
	for _, ref := range put.Saved {
		c.sayKept(ref, "what was kept earlier")
	}
	if put.Branch != "" {
		c.Print("removed branch %s, which is in %s\n", put.Branch, put.Within)
	}
	if err != nil {
		return err
	}
	removed.StatusKept, removed.KeptRefs = put.StatusKept, append(removed.KeptRefs, put.Saved...)
	if put.KeptRef != "" {
		removed.KeptRefs = append(removed.KeptRefs, put.KeptRef)
	}
	c.put = append(c.put, removed)
	c.Print("put away #%d", x.Info.Issue)
	if put.StatusKept {
		c.Print("; its status stays for whoever waits for it (signalbox issue remove %d)", x.Info.Issue)
	}
	c.Print("\n")
	return nil
}

// sayKept says how to come by the work on a ref; nothing where there is none.
func (c *sessionCleanup) sayKept(ref, where string) {
	if ref != "" {
		c.Print("%s\n", where)
		display.PrintRef(c.Invocation, "  ", ref)
	}
}
