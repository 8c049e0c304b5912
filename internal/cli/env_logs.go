package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func newEnvLogs(a *app) *cobra.Command {
	var follow, names bool
	c := &cobra.Command{
		Use:   "logs ENV [LOG]",
		Short: "Print what the environment's set-up printed",
		Long: "Print the logs of an environment's set-up and verification, in order, or the one named. Control characters are taken\n" +
			"out. Everything else that ran there is in \"signalbox logs\".",
		Example:           "  signalbox env logs 42\n  signalbox env logs 42 --list",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.offerEnvironments(),
		RunE: func(c *cobra.Command, args []string) error {
			return a.environmentLogs(c.Context(), args, follow, names)
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run stands still")
	c.Flags().BoolVarP(&names, "list", "l", false, "list the logs, oldest first")
	return c
}

func (a *app) environmentLogs(ctx context.Context, args []string, follow, list bool) error {
	p, err := a.open(ctx)
	if err != nil {
		return err
	}
	found, err := p.findEnvironment(ctx, args[0])
	if err != nil {
		return err
	}
	l := &logReader{project: p, ref: found.Ref, dir: found.Ref.Dir() + "/logs"}
	if len(args) == 2 {
		return l.one(ctx, args[1], follow)
	}
	names, err := l.names()
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, "setup.") })
	if len(names) == 0 {
		a.print("nothing was set up in this environment\n")
		return nil
	}
	for i, name := range names {
		if list {
			a.print("%s\n", name)
			continue
		}
		a.print("%s\n", a.paint(faint, "== "+name))
		if err := l.one(ctx, name, follow && i == len(names)-1); err != nil {
			return err
		}
	}
	return nil
}
