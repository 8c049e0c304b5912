package env

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/place"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func newEnvExec(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{
		Use:   "exec ENV -- PROGRAM [ARGUMENT]...",
		Short: "Run a program in an environment, the way its tests run",
		Long: "Run a program inside a run's environment, with the same isolation and with what its setup activated, in its work folder.\n" +
			"The exit code is the program's. ENV is an environment's id or its issue's number. If the run is stopped, it can't be\n" +
			"resumed before the program has ended.",
		Example:           "  signalbox env exec 42 -- go test ./...\n  signalbox env exec 42 -- sh -c 'git log --oneline | head'",
		Args:              cobra.MatchAll(dashed, cobra.MinimumNArgs(2)),
		ValidArgsFunction: offerEnvironments(a),
		RunE: func(c *cobra.Command, args []string) error {
			return enter(c.Context(), a, args[0], func(ctx context.Context, place *place.Place) error {
				err := execIn(ctx, a, place, process.Command{Args: args[1:], Stdin: a.In, Stdout: a.Bare.Out, Stderr: a.Bare.Err})
				if problem.CodeOf(err) == exitNoProgram {
					return noProgram(ctx, place, args[0], args[1], err)
				}
				return err
			})
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &problem.Error{Err: command.FlagError(err), Hint: "put -- before the program: " + dashedLine(c, c.Flags().Args()), Code: problem.Usage}
	})
	return c
}

// dashed refuses flags that may be meant for the program: what stands before -- is ours.
func dashed(c *cobra.Command, args []string) error {
	switch dash := c.ArgsLenAtDash(); {
	case dash == 0:
		return &problem.Error{Err: errors.New("ENV is missing before the --"), Hint: command.UsageHint(c), Code: problem.Usage}
	case len(args) < 2, dash == 1, dash < 0 && c.Flags().NFlag() == 0:
		return nil
	}
	return &problem.Error{Err: errors.New("it is not clear which flags are the program's"), Code: problem.Usage,
		Hint: "put -- before the program: " + dashedLine(c, args)}
}

// dashedLine is how the command with these arguments should have been written.
func dashedLine(c *cobra.Command, args []string) string {
	if len(args) < 2 {
		return command.UsageLine(c)
	}
	return fmt.Sprintf("%s %s -- %s ...", c.CommandPath(), args[0], args[1])
}

// enter lets act work in the environment that ref names: by its id or by its issue's number.
func enter(ctx context.Context, a *command.Invocation, ref string, act func(context.Context, *place.Place) error) (err error) {
	p, err := a.OpenTrusted(ctx)
	if err != nil {
		return err
	}
	if p.ConfigError != nil { // its defaults may let more through than was wanted
		return p.ConfigError
	}
	found, err := findEnvironment(ctx, p, ref)
	if err != nil {
		return err
	}
	at, err := p.Places().Enter(ctx, found.Run, visitor)
	switch {
	case errors.Is(err, place.ErrNoEnvironment), errors.Is(err, fs.ErrNotExist):
		return &problem.Error{Err: fmt.Errorf("run %s has no environment at this moment", found.Run.Ref()),
			Hint: "see where it is: signalbox status " + found.Run.Ref(), Code: problem.NotFound}
	case err != nil:
		return wire.Explained(err)
	}
	if !at.Alone {
		warnOfOthers(ctx, p, found.Ref)
	}
	defer func() { err = errors.Join(err, at.Leave()) }()
	if err := touched(ctx, p, found.Run.Details.EnvID); err != nil {
		return wire.Explained(err)
	}
	return act(ctx, at)
}

// touched says in environments.json that the environment was opened.
func touched(ctx context.Context, p *command.Project, envID string) error {
	return p.Store.Environments().Update(ctx, func(doc *registry.Environments) error {
		for i := range doc.Environments {
			if doc.Environments[i].EnvID == envID {
				doc.Environments[i].Touch(time.Now())
			}
		}
		return nil
	})
}

// visitor is the name under which a person in an environment holds its run.
const visitor = "signalbox env"

// warnOfOthers says who else is in the environment.
func warnOfOthers(ctx context.Context, p *command.Project, ref workflow.RunRef) {
	holder, held, err := p.Held(ctx, ref.RequestID)
	if err == nil && held && holder.Owner == visitor {
		p.Warn("somebody else is in this environment with \"signalbox env\" (pid %d)", holder.PID)
		return
	}
	if name, ok := strings.CutPrefix(holder.Owner, app.SessionOwner); ok {
		p.Warn("session %s works in this environment", name)
		return
	}
	p.Warn("its run is at work in this environment: what you change there may end up in the change, or be taken away")
}

// findEnvironment is the run whose environment ref names.
func findEnvironment(ctx context.Context, p *command.Project, ref string) (store.RunSummary, error) {
	run, err := runOfEnvironment(ctx, p.Store, ref)
	if err != nil {
		return store.RunSummary{}, wire.Explained(err)
	}
	if run != nil {
		return store.RunSummary{Ref: workflow.RefOf(run), Run: *run}, nil
	}
	found, err := p.Find(ctx, ref)
	if problem.CodeOf(err) == problem.NotFound {
		return found, &problem.Error{Err: fmt.Errorf("no run of Signalbox works in an environment %q", ref), Code: problem.NotFound,
			Hint: "see which environments there are: signalbox env list"}
	}
	return found, err
}

// execIn runs c and makes its end ours.
func execIn(ctx context.Context, a *command.Invocation, place *place.Place, c process.Command) error {
	if file, ok := c.Stdin.(*os.File); ok && file == nil {
		c.Stdin = nil
	}
	result, err := place.Exec(ctx, c)
	if err != nil {
		return wire.Explained(err)
	}
	switch {
	case result.Ending == process.Stopped:
		return &problem.Error{Code: problem.Canceled}
	case result.ExitCode > 0:
		return &problem.Error{Code: result.ExitCode}
	case !result.OK():
		return &problem.Error{Code: problem.General}
	}
	return nil
}
