package session

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app/sessions"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/session"
)

func newSessionRunBatch(a *command.Invocation) *cobra.Command {
	how := sessions.Start{Mode: session.Headless}
	var dry, sequential, goOn bool
	c := &cobra.Command{
		Use: "run-batch ISSUE...", Args: cobra.MinimumNArgs(1), ValidArgsFunction: command.Requests(a),
		RunE: func(c *cobra.Command, args []string) error {
			if dry {
				return printPlan(c.Context(), a, args)
			}
			p, all, err := openToStart(c.Context(), a, &how)
			if err != nil {
				return err
			}
			plan, err := all.Plan(c.Context(), args)
			if err != nil {
				return err
			}
			if _, _, err := p.SessionAgent(how.Agent, how.Program); err != nil {
				return err
			}
			places := p.Config.MaxParallel
			if sequential {
				places = 1
			}
			results, err := (&sessions.Batch{Sessions: all, Plan: plan, How: how, Places: places, GoOn: goOn, Tell: func(n sessions.News) { printNews(a, n) }}).Run(c.Context())
			if err != nil {
				return err
			}
			return printResults(c.Context(), a, results)
		},
	}
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "only print the order, in waves")
	c.Flags().BoolVar(&sequential, "sequential", false, "one session at a time")
	c.Flags().BoolVar(&goOn, "continue-on-error", false, "after an error, continue with the issues that don't depend on it")
	c.Flags().StringVar(&how.Agent, "agent", "", "an agent of the configuration, or a program by its path; default: the one that implements")
	c.Flags().BoolVar(&a.Opener.Overrides.Unsandboxed, "unsandboxed", false, "run the agents on this machine as you, without isolation")
	a.AddTrustFlag(c)
	return c
}

// printPlan prints the order in waves, and says which sessions will begin with unmerged work.
func printPlan(ctx context.Context, a *command.Invocation, refs []string) error {
	p, err := a.Open(ctx)
	if err != nil {
		return err
	}
	all, err := sessions.Of(p.App)
	if err != nil {
		return err
	}
	plan, err := all.Plan(ctx, refs)
	if err != nil {
		return err
	}
	for _, n := range plan.Order {
		if done, err := all.Complete(ctx, plan.Requests[n]); err != nil {
			return err
		} else if done {
			continue
		}
		needed, err := all.Unmerged(ctx, plan.Requests[n])
		if err != nil {
			return err
		}
		if len(needed) > 0 {
			a.Say(fmt.Sprintf("#%d will begin with the work of %s, which is not merged yet", n, sessions.Numbers(needed)))
		}
	}
	waves := plan.Waves()
	return a.Show(waves, func() {
		for i, wave := range waves {
			a.Print("wave %d: %s\n", i+1, sessions.Numbers(wave))
		}
	})
}

// printNews prints a line of progress, which programs don't need.
func printNews(a *command.Invocation, n sessions.News) {
	if a.JSON {
		return
	}
	says := redact.Line(n.Result.Message, 300)
	switch {
	case n.Kind == sessions.Started:
		says = "started: " + redact.Line(n.Session.Agent, 60)
	case n.Kind == sessions.Joined:
		says = "is at work already, and waited for: " + redact.Line(n.Session.Agent, 60)
	case n.Kind == sessions.Asks:
		says = sessions.Says(n.Session)
	case n.Result.Status != registry.IssueUnknown:
		says = strings.TrimSuffix(fmt.Sprintf("%s: %s", n.Result.Status, says), ": ")
	}
	a.Print("%s #%d %s\n", commandline.Clock(time.Now()), n.Issue, says)
}

func printResults(ctx context.Context, a *command.Invocation, results []sessions.Result) error {
	complete, worked, failed := 0, []string(nil), []int(nil)
	for _, r := range results {
		if r.Status == registry.IssueComplete {
			complete++
		}
		switch {
		case !r.Worked:
		case r.Status == registry.IssueComplete:
			worked = append(worked, strconv.Itoa(r.Issue))
		case r.Status == registry.IssueError:
			failed = append(failed, r.Issue)
		}
	}
	err := a.Show(results, func() {
		a.Print("%d of %s complete\n", complete, commandline.Count(len(results), "issue"))
		for _, n := range failed {
			a.Say(fmt.Sprintf("#%d: signalbox session logs %[1]d", n))
		}
		if len(worked) > 0 {
			a.Say(fmt.Sprintf("see what one changed: signalbox env exec %s -- sh -c 'git add -N . && git diff'\n"+
				"put the work on refs, from which git merges it: signalbox session cleanup %s", worked[0], strings.Join(worked, " ")))
		}
	})
	switch {
	case ctx.Err() != nil:
		a.Say("the started sessions continue, and the same command continues the batch")
		return errors.Join(err, &problem.Error{Code: problem.Canceled})
	case complete < len(results):
		return errors.Join(err, &problem.Error{Code: problem.Failed})
	}
	return err
}
