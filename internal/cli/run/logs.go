package run

import (
	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/store"
)

func newLogs(a *command.Invocation) *cobra.Command {
	var follow, names, raw bool
	c := &cobra.Command{
		Use:   "logs RUN [LOG]",
		Short: "Print a run's newest log, or a named one",
		Long: "Print what an agent or a command of the run printed: the newest log, or the one named. Control characters are\n" +
			"taken out. Of an agent that Signalbox understands it is what the agent said and did; --raw is all that its\n" +
			"program printed. With -f go on until the run stands still, through every log that begins meanwhile.\n" +
			"--json: one object a line, an agent's as its transcript has them (docs/agents.md), any other log's with its line.",
		Example: "  signalbox logs 42\n  signalbox logs 42 --list\n  signalbox logs 42 implementer.S01.1.log\n  signalbox logs 42 -f",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			p, found, err := a.OpenRun(c.Context(), args[0])
			if err != nil {
				return err
			}
			l := &display.LogReader{Project: p, Ref: found.Ref, Dir: store.RunDir(found.Ref) + "/logs", Raw: raw}
			switch {
			case names:
				return l.List()
			case len(args) == 2:
				return l.One(c.Context(), args[1], follow)
			}
			return l.Newest(c.Context(), follow)
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run stands still")
	c.Flags().BoolVar(&raw, "raw", false, "print what an agent's program printed, not what it means")
	c.Flags().BoolVarP(&names, "list", "l", false, "list the run's logs, oldest first")
	return c
}
