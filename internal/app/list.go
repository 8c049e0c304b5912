package app

import (
	"context"
	"strconv"
	"strings"

	"signalbox/internal/commandline"
	"signalbox/internal/forge"
	"signalbox/internal/redact"
	"signalbox/internal/session"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Listing is one line of list, and one object of its JSON.
type Listing struct {
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

// List returns the latest run of each request and, unless runsOnly, the requests without one. Requests that can't be read are left
// out; broken says why.
func (p *App) List(ctx context.Context, runsOnly bool) (lines []Listing, broken, err error) {
	latest, err := p.Latest(ctx)
	if err != nil {
		return nil, nil, err
	}
	requests, broken := p.Forge.Requests(ctx)
	lines = p.Listings(ctx, latest, requests, runsOnly)
	return lines, broken, p.markInterrupted(ctx, lines)
}

func (p *App) Listings(ctx context.Context, latest []store.RunSummary, requests []forge.Request, runsOnly bool) (lines []Listing) {
	seen := map[string]bool{}
	numbers := map[string]int{}
	for _, request := range requests {
		numbers[request.ID] = request.Number
	}
	for _, r := range latest {
		seen[r.Ref.RequestID] = true
		if r.Err != nil {
			lines = append(lines, Listing{Number: numbers[r.Ref.RequestID], RequestID: r.Ref.RequestID, RunID: r.Ref.RunID, Problem: redact.Line(r.Err.Error(), 300)})
			continue
		}
		lines = append(lines, Listing{Number: r.Run.Details.Number, RequestID: r.Ref.RequestID, Title: redact.Line(r.Run.Title, 200),
			RunID: r.Ref.RunID, State: r.Run.State, Phase: string(r.Run.Details.Phase.Step()), Percent: r.Run.Progress.Percent,
			Message: redact.Line(p.doingOrDone(ctx, &r.Run), 300), Interrupted: r.Run.Interrupted()})
	}
	for _, request := range requests {
		if !seen[request.ID] && !runsOnly {
			lines = append(lines, Listing{Number: request.Number, RequestID: request.ID, Title: request.Title, Closed: request.Closed})
		}
	}
	return lines
}

// doingOrDone is what the run does; of one that was made ready for a session, what that came to.
func (p *App) doingOrDone(ctx context.Context, r *workflow.Run) string {
	if e := r.Error; e != nil && e.ReasonCode == workflow.PreparedCode {
		if info := p.SessionOf(ctx, r); info != nil {
			return "its session is " + CameTo(info)
		}
	}
	return commandline.Doing(r)
}

func (p *App) markInterrupted(ctx context.Context, lines []Listing) error {
	holders, err := p.Store.Holders(ctx)
	if err != nil {
		return wire.Explained(err)
	}
	held := map[string]bool{}
	sessions := map[string]string{}
	for _, h := range holders {
		held[h.Name] = true
		if name, ok := strings.CutPrefix(h.Record.Owner, SessionOwner); ok {
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

func CameTo(info *session.Info) string {
	came := string(SessionState(info))
	if info.Outcome != nil && info.Outcome.Message != "" {
		came += ": " + info.Outcome.Message
	}
	return came
}
