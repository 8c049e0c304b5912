package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/commandline"
	"signalbox/internal/forge"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func newList(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List requests and their latest runs",
		Example: "  signalbox list\n  signalbox list --json",
		RunE:    func(c *cobra.Command, _ []string) error { return a.list(c.Context(), false) },
	}
}

// listing is one line of list, and one object of its JSON.
type listing struct {
	Number    int            `json:"number"`
	RequestID string         `json:"request_id"`
	Title     string         `json:"title"`
	RunID     string         `json:"run_id,omitempty"`
	State     workflow.State `json:"state,omitempty"`
	Phase     string         `json:"step,omitempty"`
	Percent   int            `json:"percent"`
	Message   string         `json:"message,omitempty"`
	Problem   string         `json:"problem,omitempty"`
	// Closed: no run answers the request, and none is to.
	Closed bool `json:"closed,omitempty"`
	// Interrupted: the run should move and no process carries it, or that process was told to end.
	Interrupted bool `json:"interrupted,omitempty"`
}

func (a *invocation) list(ctx context.Context, runsOnly bool) error {
	p, err := a.open(ctx)
	if err != nil {
		return err
	}
	p.warn()
	latest, err := p.Latest(ctx)
	if err != nil {
		return err
	}
	requests, requestErr := p.Forge.Requests(ctx)
	if requestErr != nil {
		p.show(wire.Explained(requestErr)) // the broken ones; the others are listed
	}
	lines := p.listings(ctx, latest, requests, runsOnly)
	if err := p.markInterrupted(ctx, lines); err != nil {
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

func (p *project) listings(ctx context.Context, latest []store.RunSummary, requests []forge.Request, runsOnly bool) (lines []listing) {
	seen := map[string]bool{}
	numbers := map[string]int{}
	for _, request := range requests {
		numbers[request.ID] = request.Number
	}
	for _, r := range latest {
		seen[r.Ref.RequestID] = true
		if r.Err != nil {
			lines = append(lines, listing{Number: numbers[r.Ref.RequestID], RequestID: r.Ref.RequestID, RunID: r.Ref.RunID, Problem: redact.Line(r.Err.Error(), 300)})
			continue
		}
		lines = append(lines, listing{Number: r.Run.Journey.Number, RequestID: r.Ref.RequestID, Title: redact.Line(r.Run.Title, 200),
			RunID: r.Ref.RunID, State: r.Run.State, Phase: string(r.Run.Journey.Phase.Step()), Percent: r.Run.Progress.Percent,
			Message: redact.Line(p.doingOrDone(ctx, &r.Run), 300), Interrupted: r.Run.Interrupted()})
	}
	for _, request := range requests {
		if !seen[request.ID] && !runsOnly {
			lines = append(lines, listing{Number: request.Number, RequestID: request.ID, Title: request.Title, Closed: request.Closed})
		}
	}
	return lines
}

// doingOrDone is what the run does; of one that was made ready for a session, what that came to.
func (p *project) doingOrDone(ctx context.Context, r *workflow.Run) string {
	if e := r.Error; e != nil && e.ReasonCode == workflow.PreparedCode {
		if info := p.SessionOf(ctx, r); info != nil {
			return "its session is " + cameTo(info)
		}
	}
	return commandline.Doing(r)
}

func (p *project) markInterrupted(ctx context.Context, lines []listing) error {
	holders, err := p.Store.Holders(ctx)
	if err != nil {
		return wire.Explained(err)
	}
	held := map[string]bool{}
	sessions := map[string]string{}
	for _, h := range holders {
		held[h.Name] = true
		if name, ok := strings.CutPrefix(h.Record.Owner, app.SessionOwner); ok {
			sessions[h.Name] = name
		}
	}
	for i := range lines {
		l := &lines[i]
		if name, ok := sessions["request-"+l.RequestID]; ok {
			l.Message = name + " works in its environment; follow it: signalbox session watch " + strconv.Itoa(l.Number)
		}
		if l.State == workflow.Running || l.State == workflow.Queued {
			l.Interrupted = !held["request-"+l.RequestID]
		}
		if l.Interrupted && sessions["request-"+l.RequestID] == "" {
			l.Message = "cut off; go on: signalbox resume " + strconv.Itoa(l.Number)
		}
	}
	return nil
}

func (p *project) printListing(l listing) {
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
