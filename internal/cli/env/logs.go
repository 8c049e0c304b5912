package env

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/redact"
)

func newEnvLogs(a *command.Invocation) *cobra.Command {
	var follow, names bool
	c := &cobra.Command{
		Use: "logs ENV [LOG]", Args: cobra.RangeArgs(1, 2), ValidArgsFunction: offerEnvironments(a),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := a.Open(c.Context())
			if err != nil {
				return err
			}
			wanted := ""
			if len(args) == 2 {
				wanted = args[1]
			}
			setUp, err := environments.LogsOf(c.Context(), p.App, args[0], wanted)
			switch {
			case err != nil:
				return err
			case a.JSON:
				return a.PrintJSON(setUp.List)
			case names:
				var rows [][]string
				for _, log := range setUp.List {
					rows = append(rows, []string{log.Log, log.Title(), log.Ended, redact.Line(log.Command, 200)})
				}
				a.PrintTable("LOG\tOF\tENDED\tCOMMAND", rows)
				return nil
			case len(setUp.List) == 0:
				a.Print("nothing was set up in this environment\n")
			case setUp.Warm && wanted == "":
				a.Print("set up by an earlier run, and only verified in this one\n\n")
			}
			return printSetUpLogs(c.Context(), p, setUp, follow)
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "continue until the run stops")
	c.Flags().BoolVarP(&names, "list", "l", false, "list the logs, oldest first")
	return c
}

func printSetUpLogs(ctx context.Context, p *command.Project, setUp environments.SetUpLogList, follow bool) error {
	for i, log := range setUp.List {
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
		if err := setUp.Read(ctx, log.Log, follow && i == len(setUp.List)-1, display.ShowLog(p)); err != nil {
			return err
		}
	}
	return nil
}
