package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
)

func newSessionRunBatch(a *command.Invocation) *cobra.Command {
	b := &batch{app: a, how: sessionStart{headless: true, laying: &sync.Mutex{}}}
	var dry, sequential bool
	c := &cobra.Command{
		Use:   "run-batch ISSUE...",
		Short: "Run headless sessions for several issues in dependency order",
		Long: "Start a headless session for each issue as soon as all that it depends on (depends_on of its request) are complete, as\n" +
			"many at once as max_parallel says. What is complete already is not done again; a session that runs is waited for. After\n" +
			"a session that is an error nothing more is started, with --continue-on-error only nothing that depends on it. A\n" +
			"session begins with the base branch and with what those did that it depends on, merged or not. Exit code 4: not all are complete.",
		Example: "  signalbox session run-batch 41 42 43 --dry-run\n  signalbox session run-batch 41 42 43 --continue-on-error",
		Args:    cobra.MinimumNArgs(1), ValidArgsFunction: command.Requests(a),
		RunE: func(c *cobra.Command, args []string) error { return b.command(c.Context(), args, dry, sequential) },
	}
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "only print the order, in waves")
	c.Flags().BoolVar(&sequential, "sequential", false, "one session at a time")
	c.Flags().BoolVar(&b.goOn, "continue-on-error", false, "after an error, go on with what does not depend on it")
	c.Flags().StringVar(&b.how.agent, "agent", "", "an agent of the configuration, or a program by its path; the usual is who implements")
	c.Flags().BoolVar(&a.Opener.Overrides.Unsandboxed, "unsandboxed", false, "run the agents on this machine as you, without isolation")
	a.AddTrustFlag(c)
	return c
}

func (b *batch) command(ctx context.Context, refs []string, dry, sequential bool) (err error) {
	b.app.Opener.Overrides.Program = strings.Contains(b.how.agent, "/")
	if dry {
		b.project, err = b.app.Open(ctx)
	} else {
		b.project, err = openForSessions(ctx, b.app)
	}
	if err != nil {
		return err
	}
	if b.plan, err = planBatch(ctx, b.project, refs); err != nil {
		return err
	}
	if dry {
		return errors.Join(b.sayUnmerged(ctx), b.printWaves())
	}
	b.how = meant(b.project, b.how)
	_, c, err := b.project.SessionAgent(b.how.agent, b.how.program)
	if err != nil {
		return err
	}
	b.project.WarnOfLogin(c)
	b.places = b.project.Config.MaxParallel
	if sequential {
		b.places = 1
	}
	return b.carry(ctx)
}

func (b *batch) printWaves() error {
	waves := b.plan.waves()
	if b.app.JSON {
		return b.app.PrintJSON(waves)
	}
	for i, wave := range waves {
		b.app.Print("wave %d: %s\n", i+1, numbers(wave))
	}
	return nil
}

// sayUnmerged says which sessions will begin with work that nobody has merged.
func (b *batch) sayUnmerged(ctx context.Context) error {
	for _, n := range b.plan.order {
		done, err := isComplete(ctx, b.project, b.plan.requests[n])
		if err != nil {
			return err
		}
		if done {
			continue
		}
		needed, err := unmerged(ctx, b.project, b.plan.requests[n])
		if err != nil {
			return err
		}
		if len(needed) > 0 {
			b.app.Say(fmt.Sprintf("#%d will begin with the work of %s, which is not merged yet", n, numbers(needed)))
		}
	}
	return nil
}

func numbers(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = fmt.Sprintf("#%d", n)
	}
	return strings.Join(words, " ")
}
