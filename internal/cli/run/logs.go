package run

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/redact"
)

func newLogs(a *command.Invocation) *cobra.Command {
	var follow, names, raw bool
	c := &cobra.Command{
		Use:  "logs RUN [LOG]",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			p, found, err := a.OpenRun(c.Context(), args[0])
			if err != nil {
				return err
			}
			l := p.Logs(found.Ref)
			l.Raw = raw
			switch {
			case names:
				return listLogs(p, l)
			case len(args) == 2:
				return l.Read(c.Context(), args[1], follow, display.ShowLog(p))
			}
			return l.Newest(c.Context(), follow, display.ShowLog(p))
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run stands still")
	c.Flags().BoolVar(&raw, "raw", false, "print what an agent's program printed, not what it means")
	c.Flags().BoolVarP(&names, "list", "l", false, "list the run's logs, oldest first")
	return c
}

func listLogs(p *command.Project, l *app.Logs) error {
	names, err := l.Names()
	if err != nil {
		return err
	}
	if p.JSON {
		return p.PrintJSON(names)
	}
	for _, name := range names {
		p.Print("%s\n", redact.Line(name, 200))
	}
	return nil
}
