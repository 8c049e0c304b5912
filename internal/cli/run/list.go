package run

import (
	"context"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/wire"
)

func newList(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:  "list",
		RunE: func(c *cobra.Command, _ []string) error { return list(c.Context(), a, false) },
	}
}

func list(ctx context.Context, a *command.Invocation, runsOnly bool) error {
	p, err := a.Open(ctx)
	if err != nil {
		return err
	}
	p.WarnOfConfig()
	lines, broken, err := p.List(ctx, runsOnly)
	if broken != nil {
		p.ShowError(wire.Explained(broken)) // the others are listed
	}
	if err != nil {
		return err
	}
	if p.JSON {
		return p.PrintJSON(lines)
	}
	if len(lines) == 0 {
		p.Print("nothing here yet; write a request: signalbox new \"what should be different\", then: signalbox run 1\n")
	}
	for _, l := range lines {
		printListing(p, l)
	}
	return nil
}

func printListing(p *command.Project, l app.Listing) {
	switch {
	case l.Problem != "":
		p.Print("%-6s %s  %s\n", "?", p.Paint(command.Red, "broken"), l.RequestID+"/"+l.RunID+": "+l.Problem+"; what to do: signalbox status "+l.RequestID)
	case l.Closed:
		p.Print("%-6s %-12s %-15s %s\n", "#"+strconv.Itoa(l.Number), "closed", "", p.Paint(command.Faint, l.Title))
	case l.State == "":
		p.Print("%-6s %-12s %-15s %s\n", "#"+strconv.Itoa(l.Number), "new", "", l.Title)
	default:
		label := display.State(p.Invocation, l.State) + strings.Repeat(" ", max(0, 12-displaywidth.String(display.Label(p.Invocation, l.State))))
		if l.Interrupted {
			label = p.Paint(command.Yellow, display.Interrupted) + " "
		}
		p.Print("%-6s %s %-15s %s  %s\n", "#"+strconv.Itoa(l.Number), label, l.Phase, l.Title, p.Paint(command.Faint, l.Message))
	}
}
