package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/wire"
)

func newList(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List requests and their latest runs",
		Example: "  signalbox list\n  signalbox list --json",
		RunE:    func(c *cobra.Command, _ []string) error { return a.list(c.Context(), false) },
	}
}

func (a *invocation) list(ctx context.Context, runsOnly bool) error {
	p, err := a.open(ctx)
	if err != nil {
		return err
	}
	p.warn()
	lines, broken, err := p.List(ctx, runsOnly)
	if broken != nil {
		p.show(wire.Explained(broken)) // the others are listed
	}
	if err != nil {
		return err
	}
	if p.json {
		return p.printJSON(lines)
	}
	if len(lines) == 0 {
		p.print("nothing here yet; write a request: signalbox new \"what should be different\", then: signalbox run 1\n")
	}
	for _, l := range lines {
		p.printListing(l)
	}
	return nil
}

func (p *project) printListing(l app.Listing) {
	switch {
	case l.Problem != "":
		p.print("%-6s %s  %s\n", "?", p.paint(red, "broken"), l.RequestID+"/"+l.RunID+": "+l.Problem+"; what to do: signalbox status "+l.RequestID)
	case l.Closed:
		p.print("%-6s %-12s %-15s %s\n", "#"+strconv.Itoa(l.Number), "closed", "", p.paint(faint, l.Title))
	case l.State == "":
		p.print("%-6s %-12s %-15s %s\n", "#"+strconv.Itoa(l.Number), "new", "", l.Title)
	default:
		label := p.state(l.State) + strings.Repeat(" ", max(0, 12-displaywidth.String(p.label(l.State))))
		if l.Interrupted {
			label = p.paint(yellow, interruptedLabel) + " "
		}
		p.print("%-6s %s %-15s %s  %s\n", "#"+strconv.Itoa(l.Number), label, l.Phase, l.Title, p.paint(faint, l.Message))
	}
}
