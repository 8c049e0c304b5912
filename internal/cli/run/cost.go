package run

import (
	"cmp"
	"strconv"

	"github.com/spf13/cobra"

	"signalbox/internal/app/cost"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
)

func newCost(a *command.Invocation) *cobra.Command {
	var way string
	c := &cobra.Command{
		Use: "cost", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			by, err := cost.Of(way)
			if err != nil {
				return command.UsageError("signalbox cost --by model", "--by %v", err)
			}
			p, err := a.Open(c.Context())
			if err != nil {
				return err
			}
			costs, err := cost.Read(c.Context(), p.App, by)
			if err != nil {
				return err
			}
			return p.Show(costs, func() { printCosts(p, &costs) })
		},
	}
	c.Flags().StringVar(&way, "by", string(cost.ByRequest), "day, request, agent or model")
	_ = c.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]cobra.Completion{"day", "request", "agent", "model"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func printCosts(p *command.Project, c *cost.Costs) {
	if len(c.Rows) == 0 {
		p.Print("no agent has reported any use yet\n")
		return
	}
	row := func(r *cost.Row, name string) []string {
		return []string{name, strconv.Itoa(r.Runs), strconv.Itoa(r.Calls), strconv.FormatInt(r.Tokens(), 10), strconv.FormatInt(r.CachedTokens, 10), r.Dollars(), r.Title}
	}
	var rows [][]string
	for i := range c.Rows {
		name := cmp.Or(c.Rows[i].Key, "unknown")
		if c.By == cost.ByRequest {
			name = "#" + name
		}
		rows = append(rows, row(&c.Rows[i], name))
	}
	p.PrintTable(string(c.By)+"\truns\tcalls\ttokens\tcached\tcost\ttitle", append(rows, row(&c.Total, c.Total.Key)))
	if c.Unreadable > 0 {
		p.Say("not counted: " + commandline.Count(c.Unreadable, "run") + " that can't be read; see which: signalbox list")
	}
}
