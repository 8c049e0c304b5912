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

// batch is "run-batch" as a person wants it.
type batch struct {
	*command.Invocation
	agent                 string
	dry, sequential, goOn bool
}

func newSessionRunBatch(a *command.Invocation) *cobra.Command {
	b := &batch{Invocation: a}
	c := &cobra.Command{
		Use:  "run-batch ISSUE...",
		Args: cobra.MinimumNArgs(1), ValidArgsFunction: command.Requests(a),
		RunE: func(c *cobra.Command, args []string) error { return b.run(c.Context(), args) },
	}
	c.Flags().BoolVarP(&b.dry, "dry-run", "n", false, "only print the order, in waves")
	c.Flags().BoolVar(&b.sequential, "sequential", false, "one session at a time")
	c.Flags().BoolVar(&b.goOn, "continue-on-error", false, "after an error, go on with what does not depend on it")
	c.Flags().StringVar(&b.agent, "agent", "", "an agent of the configuration, or a program by its path; the usual is who implements")
	c.Flags().BoolVar(&a.Opener.Overrides.Unsandboxed, "unsandboxed", false, "run the agents on this machine as you, without isolation")
	a.AddTrustFlag(c)
	return c
}

func (b *batch) run(ctx context.Context, refs []string) error {
	b.Opener.Overrides.Program = strings.Contains(b.agent, "/")
	if b.dry {
		return b.printPlan(ctx, refs)
	}
	p, all, err := openForSessions(ctx, b.Invocation)
	if err != nil {
		return err
	}
	plan, err := all.Plan(ctx, refs)
	if err != nil {
		return err
	}
	how := meant(p, sessions.Start{Agent: b.agent, Mode: session.Headless})
	if _, _, err := p.SessionAgent(how.Agent, how.Program); err != nil {
		return err
	}
	places := p.Config.MaxParallel
	if b.sequential {
		places = 1
	}
	results, err := (&sessions.Batch{Sessions: all, Plan: plan, How: how, Places: places, GoOn: b.goOn, Tell: b.tell}).Run(ctx)
	if err != nil {
		return err
	}
	return b.printResults(ctx, results)
}

// printPlan prints the order in waves, and says which sessions will begin with work that nobody has merged.
func (b *batch) printPlan(ctx context.Context, refs []string) error {
	p, err := b.Open(ctx)
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
		done, err := all.Complete(ctx, plan.Requests[n])
		if err != nil {
			return err
		}
		if done {
			continue
		}
		needed, err := all.Unmerged(ctx, plan.Requests[n])
		if err != nil {
			return err
		}
		if len(needed) > 0 {
			b.Say(fmt.Sprintf("#%d will begin with the work of %s, which is not merged yet", n, sessions.Numbers(needed)))
		}
	}
	waves := plan.Waves()
	if b.JSON {
		return b.PrintJSON(waves)
	}
	for i, wave := range waves {
		b.Print("wave %d: %s\n", i+1, sessions.Numbers(wave))
	}
	return nil
}

// tell prints a line of progress, which a program that reads JSON is spared.
func (b *batch) tell(n sessions.News) {
	if b.JSON {
		return
	}
	says := redact.Line(n.Result.Message, 300)
	switch {
	case n.Kind == sessions.Started:
		says = "started: " + redact.Line(n.Session.Agent, 60)
	case n.Kind == sessions.Joined:
		says = "is at work already, and waited for: " + redact.Line(n.Session.Agent, 60)
	case n.Kind == sessions.Asks:
		says = sessionSays(n.Session)
	case n.Result.Status != registry.IssueUnknown:
		says = strings.TrimSuffix(fmt.Sprintf("%s: %s", n.Result.Status, says), ": ")
	}
	b.Print("%s #%d %s\n", commandline.Clock(time.Now()), n.Issue, says)
}

func (b *batch) printResults(ctx context.Context, results []sessions.Result) (err error) {
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
	if b.JSON {
		err = b.PrintJSON(results)
	} else {
		b.Print("%d of %s complete\n", complete, commandline.Count(len(results), "issue"))
		b.sayNext(worked, failed)
	}
	switch {
	case ctx.Err() != nil:
		b.Say("sessions that were started go on, and so does the batch by the same command")
		return errors.Join(err, &problem.Error{Code: problem.Canceled})
	case complete < len(results):
		return errors.Join(err, &problem.Error{Code: problem.Failed})
	}
	return err
}

// sayNext says where the work is, and what to do with it.
func (b *batch) sayNext(done []string, failed []int) {
	for _, n := range failed {
		b.Say(fmt.Sprintf("#%d: signalbox session logs %[1]d", n))
	}
	if len(done) > 0 {
		b.Say(fmt.Sprintf("see what one changed: signalbox env exec %s -- sh -c 'git add -N . && git diff'\n"+
			"put the work on refs, from which git merges it: signalbox session cleanup %s", done[0], strings.Join(done, " ")))
	}
}
