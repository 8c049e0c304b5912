package heal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/commandline"
	"signalbox/internal/forge"
	"signalbox/internal/health"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// repair has one error repaired as far as possible without a person: it opens the request, runs it, and records the outcome. Each step is saved
// before the next starts, and finds what an earlier attempt made.
func (p *pass) repair(ctx context.Context, id string) (health.RepairOutcome, error) {
	e := p.state.Error(id)
	if e == nil { // state.json was restarted meanwhile
		return "", nil
	}
	check, ok := p.check(e.Check)
	if !ok {
		return p.judge(ctx, health.Repair{ErrorID: id, Outcome: health.RepairFailed, Why: "its check is no longer configured"})
	}
	request, err := p.request(ctx, id, check)
	if err != nil {
		return p.putOff(ctx, id, err)
	}
	if err := p.update(ctx, func(h *health.State) { h.Attempt(id, request.ID, p.Clock()) }); err != nil {
		return "", err
	}
	p.Observe(fmt.Sprintf("%s: repairing, request %d (%s)", check.ID, request.Number, request.ID))
	run, err := p.Run(ctx, Repair{Request: request, Check: check, Judged: p.state.Error(id).Judged})
	var held *store.HeldError
	if errors.As(err, &held) {
		return p.judge(ctx, health.Repair{ErrorID: id, Outcome: health.RepairWaiting, Why: "another process works on the request"})
	}
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return p.putOff(ctx, id, fmt.Errorf("run request %s: %w", request.ID, err))
	}
	judged, err := p.outcome(ctx, id, check, &run)
	if err != nil {
		return "", err
	}
	return p.judge(ctx, judged)
}

// goneBy reports whether a merge in this pass for another error removed this one too, because both had the same cause. A repair with nothing left
// to fix would count as failed.
func (p *pass) goneBy(ctx context.Context, id string, merged bool) (bool, error) {
	e := p.state.Error(id)
	if !merged || e == nil || e.Attempting {
		return false, nil
	}
	check, ok := p.check(e.Check)
	if !ok {
		return false, nil
	}
	looks, err := p.lookAt(ctx, []workflow.HealthCheck{check})
	if err != nil || looks[0].Outcome != LookPassed {
		return false, err
	}
	p.Observe(check.ID + ": gone by the repair of another error")
	return true, p.update(ctx, func(h *health.State) { h.Gone(id) })
}

func (p *pass) check(id string) (workflow.HealthCheck, bool) {
	i := slices.IndexFunc(p.Checks, func(c workflow.HealthCheck) bool { return c.ID == id })
	if i < 0 {
		return workflow.HealthCheck{}, false
	}
	return p.Checks[i], true
}

// request opens the request about an error, one for each time the error appears. A request that is closed while no run works on it was about an
// earlier time. The text says what failed, what is known about it, and what will prove the repair.
func (p *pass) request(ctx context.Context, id string, check workflow.HealthCheck) (forge.Request, error) {
	for {
		e := p.state.Error(id)
		line, _ := strings.CutPrefix(check.Title(), check.ID) // the id stays, even if it is "token"
		text := fmt.Sprintf("The health check %q of this project fails. Find the cause and repair it; do not change the check or a test that shows the failure.\n\n"+
			"- check: %s\n- error: %s\n- severity: %s\n", e.Check, redact.Line(check.ID+redact.Named(line), 300), e.ID, e.Severity)
		if c := check.HTTP; c != nil && c.Start != "" {
			text += "- the service is started by: " + redact.Line(redact.Named(c.Start), 300) + "\n"
		}
		text += "\nWhat it says:\n\n" + quoted(e.Summary) + "\n"
		if check.Recipe != "" {
			text += "\nWhat is known about such errors:\n\n" + redact.Named(redact.Clean(check.Recipe)) + "\n"
		}
		text += "\nThe check is run again on exactly what would be merged, and has to pass there.\n"
		request, err := p.Forge.OpenRequest(ctx, e.Key(), "Health check "+e.Check+" fails: "+redact.Joined(e.Summary, 100), p.Redact.String(text))
		if err != nil {
			return request, fmt.Errorf("open request about %s: %w", id, err)
		}
		if !request.Closed || e.Attempting {
			return request, nil
		}
		if err := p.update(ctx, func(h *health.State) { h.Again(id) }); err != nil {
			return request, err
		}
	}
}

// outcome converts the state of a run into the outcome of the repair.
func (p *pass) outcome(ctx context.Context, id string, check workflow.HealthCheck, run *workflow.Run) (health.Repair, error) {
	spent := run.Details.Spent
	r := health.Repair{ErrorID: id, Run: run.RunID, Outcome: health.RepairFailed, Tokens: spent.Tokens(), CostMicroUSD: spent.CostMicroUSD,
		Calls: run.Counters.PlannerCalls + run.Counters.ImplementerCalls + run.Counters.QACalls + run.Details.RepairCalls}
	switch {
	case run.State == workflow.Done:
		// Only a passing check makes a merge a fix. The run's own tests include it, unless a person started the run.
		look := Look{Outcome: LookPassed}
		if c := run.Details.Settings.Check; c == nil || c.ID != check.ID {
			looks, err := p.lookAt(ctx, []workflow.HealthCheck{check})
			if err != nil {
				return r, err
			}
			look = looks[0]
		}
		switch look.Outcome {
		case LookPassed:
			r.Outcome = health.RepairFixed
		case LookUnknown:
			r.Outcome, r.Why = health.RepairWaiting, "merged, and the check cannot be run: "+redact.Joined(look.Message, 160)
		default:
			r.Why = "merged, and the check still fails"
		}
	case run.State == workflow.Canceled:
		r.Why = "a person gave up the run"
	case run.State == workflow.NeedsInput && run.Error != nil && run.Error.ReasonCode == workflow.ApprovalRequired && p.Unattended:
		r.Why = "the change waits for an approval, which no one can give in an unattended pass"
	case run.State == workflow.NeedsInput && run.Error != nil && run.Error.ReasonCode == workflow.ApprovalRequired:
		r.Outcome, r.Why = health.RepairWaiting, redact.Line(run.Error.Title, 200)
		r.Next = []workflow.NextStep{run.Ask("", workflow.VerbApprove)}
		if run.Details.SentBack() {
			r.Next = run.Error.Next[:min(2, len(run.Error.Next))] // look, and send it back in other words
		}
	case run.State == workflow.NeedsInput && run.Error != nil && run.Error.Unusable():
		r.Outcome, r.Why = health.RepairWaiting, redact.Line(run.Error.Title, 200)
		r.Next = []workflow.NextStep{workflow.SeeDoctor}
	case run.Hindered() && p.Unattended && r.Calls > 0:
		r.Why = redact.Line(run.Error.Title, 120) + ", and an unattended pass keeps no change for the next"
	case run.Hindered():
		r.Outcome, r.Why = health.RepairWaiting, redact.Line(run.Error.Title, 200)
		r.Next = run.Error.Next
	case run.Error != nil:
		r.Why = redact.Line(run.Error.Title, 200)
	default:
		r.Why = "the run is " + string(run.State)
	}
	return r, nil
}

func (p *pass) judge(ctx context.Context, r health.Repair) (health.RepairOutcome, error) {
	check := r.ErrorID
	if e := p.state.Error(r.ErrorID); e != nil {
		check = e.Check
	}
	says := map[health.RepairOutcome]string{health.RepairFixed: "repaired: merged, and the check passed on what was merged",
		health.RepairFailed: "the repair failed: ", health.RepairWaiting: "waiting: "}[r.Outcome] + redact.Line(commandline.Sentence(r.Why, r.Next), 200)
	p.Observe(check + ": " + says)
	return r.Outcome, p.update(ctx, func(h *health.State) { h.Judge(r, p.Clock()) })
}

// putOff records a repair as waiting because its request could not be opened or its run could not be started.
func (p *pass) putOff(ctx context.Context, id string, why error) (health.RepairOutcome, error) {
	if err := p.setAside(ctx, why); err != nil {
		return "", err
	}
	return p.judge(ctx, health.Repair{ErrorID: id, Outcome: health.RepairWaiting, Why: redact.Line(p.Redact.String(why.Error()), 200)})
}
