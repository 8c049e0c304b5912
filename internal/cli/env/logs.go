package env

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
)

func newEnvLogs(a *command.Invocation) *cobra.Command {
	var follow, names bool
	c := &cobra.Command{
		Use:               "logs ENV [LOG]",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: offerEnvironments(a),
		RunE: func(c *cobra.Command, args []string) error {
			return environmentLogs(c.Context(), a, args, follow, names)
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run stands still")
	c.Flags().BoolVarP(&names, "list", "l", false, "list the logs, oldest first")
	return c
}

func environmentLogs(ctx context.Context, a *command.Invocation, args []string, follow, list bool) error {
	p, err := a.Open(ctx)
	if err != nil {
		return err
	}
	found, err := environments.OfRun(ctx, p.App, args[0])
	if err != nil {
		return err
	}
	l := p.Logs(found.Ref)
	names, err := l.Names()
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, "setup.") })
	logs := environments.SetUpLogs(&found.Run, l.Dir, names)
	if len(args) == 2 {
		logs = slices.DeleteFunc(logs, func(s environments.SetUpLog) bool { return s.Log != args[1] })
		if len(logs) == 0 {
			return &problem.Error{Err: fmt.Errorf("there is no log %q of the set-up", args[1]), Code: problem.NotFound,
				Hint: fmt.Sprintf("see which there are: signalbox env logs %s --list; and of all else: signalbox logs %[1]s --list", args[0])}
		}
	}
	switch {
	case a.JSON:
		return a.PrintJSON(logs)
	case list:
		return listSetUpLogs(a, logs)
	case len(logs) == 0:
		a.Print("nothing was set up in this environment\n")
	case found.Run.Details.SetUp != nil && found.Run.Details.SetUp.Warm && len(args) == 1:
		a.Print("set up by an earlier run, and only verified in this one\n\n")
	}
	return printSetUpLogs(ctx, p, l, logs, follow)
}

func printSetUpLogs(ctx context.Context, p *command.Project, l *app.Logs, logs []environments.SetUpLog, follow bool) error {
	for i, log := range logs {
		if i > 0 {
			p.Print("\n")
		}
		p.Print("%s\n", p.Paint(command.Bold, fmt.Sprintf("== %s: %s", log.Title(), redact.Line(log.Command, 200))))
		for _, failure := range log.Failures {
			p.Print("%s\n", p.Paint(command.Yellow, "   failed: "+redact.Line(failure, 200)))
		}
		if len(log.Failures) == 0 || log.Ended != environments.EndedBadly {
			p.Print("%s\n", p.Paint(command.Faint, "   "+log.Ended))
		}
		if err := l.Read(ctx, log.Log, follow && i == len(logs)-1, display.ShowLog(p)); err != nil {
			return err
		}
	}
	return nil
}

// listSetUpLogs prints one line for each: name, what it is of, how that ended, the command.
func listSetUpLogs(a *command.Invocation, logs []environments.SetUpLog) error {
	out, flush := a.Columns("LOG", "OF", "ENDED", "COMMAND")
	for _, log := range logs {
		_, _ = fmt.Fprintln(out, strings.Join([]string{log.Log, log.Title(), log.Ended, redact.Line(log.Command, 200)}, "\t"))
	}
	return flush()
}
