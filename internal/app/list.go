package app

import (
	"context"
	"errors"
	"io/fs"
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
	// Awaits is what the run waits for on the forge, and who can end that.
	Awaits  *workflow.Await `json:"awaits,omitempty"`
	Problem string          `json:"problem,omitempty"`
	// Closed: the request has no run and needs none.
	Closed bool `json:"closed,omitempty"`
	// Interrupted: the run should move but no process runs it, or that process was told to end.
	Interrupted bool `json:"interrupted,omitempty"`
	// Unsandboxed: the run's commands were not isolated from this machine.
	Unsandboxed bool `json:"unsandboxed,omitempty"`
	// Run is the latest run, nil if there is none or it can't be read.
	Run *workflow.Run `json:"-"`
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
	return lines, broken, p.whoWorks(ctx, lines)
}

// Listed returns the lines of some requests. One that doesn't exist and has no run has no line.
func (p *App) Listed(ctx context.Context, requestIDs ...string) (lines []Listing, err error) {
	var latest []store.RunSummary
	var requests []forge.Request
	for _, id := range requestIDs {
		run, err := p.Store.LatestRun(ctx, id)
		switch {
		case err == nil:
			latest = append(latest, run)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, wire.Explained(err)
		default:
			if request, err := p.Forge.Request(ctx, id); err == nil {
				requests = append(requests, request)
			}
		}
	}
	lines = p.Listings(ctx, latest, requests, false)
	return lines, p.whoWorks(ctx, lines)
}

// whoWorks says of each line whether a process works on it.
func (p *App) whoWorks(ctx context.Context, lines []Listing) error {
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
		name, inSession := sessions["request-"+l.RequestID]
		if l.State == workflow.Running || l.State == workflow.Queued {
			l.Interrupted = !held["request-"+l.RequestID]
		}
		switch {
		case inSession:
			l.Message = name + " works in its environment; follow it: signalbox session watch " + strconv.Itoa(l.Number)
		case l.Interrupted:
			l.Message = "cut off; go on: " + commandline.For(l.Run, workflow.VerbResume)
		}
	}
	return nil
}

// Listings are the lines of the latest runs and, unless runsOnly, of the requests without a run.
func (p *App) Listings(ctx context.Context, latest []store.RunSummary, requests []forge.Request, runsOnly bool) (lines []Listing) {
	seen := map[string]bool{}
	numbers := map[string]int{}
	for _, request := range requests {
		numbers[request.ID] = request.Number
	}
	for i := range latest {
		r := &latest[i]
		seen[r.Ref.RequestID] = true
		if r.Err != nil {
			lines = append(lines, Listing{Number: numbers[r.Ref.RequestID], RequestID: r.Ref.RequestID, RunID: r.Ref.RunID, Problem: redact.Line(r.Err.Error(), 300)})
			continue
		}
		doing := commandline.Doing(&r.Run)
		if e := r.Run.Error; e != nil && e.ReasonCode == workflow.PreparedCode {
			if _, info := p.SessionOf(ctx, &r.Run); info != nil {
				doing = "its session is " + CameTo(info)
			}
		}
		lines = append(lines, Listing{Number: r.Run.Details.Number, RequestID: r.Ref.RequestID, Title: redact.Line(r.Run.Title, 200),
			RunID: r.Ref.RunID, State: r.Run.State, Phase: string(r.Run.Details.Phase.Step()), Percent: r.Run.Progress.Percent,
			Message: redact.Line(doing, 300), Awaits: r.Run.Awaits(), Interrupted: r.Run.Interrupted(),
			Unsandboxed: r.Run.Details.Isolation == workflow.IsolationNone, Run: &r.Run})
	}
	for _, request := range requests {
		if !seen[request.ID] && !runsOnly {
			lines = append(lines, Listing{Number: request.Number, RequestID: request.ID, Title: request.Title, Closed: request.Closed})
		}
	}
	return lines
}

// CameTo is a session's state, with its last message.
func CameTo(info *session.Info) string {
	came := string(SessionState(info))
	if info.Outcome != nil && info.Outcome.Message != "" {
		came += ": " + info.Outcome.Message
	}
	return came
}
