package heal

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// pass is one pass in hand. state is the document as last saved.
type pass struct {
	*Healer
	doc    *store.Document[workflow.Health]
	state  workflow.Health
	begun  workflow.HealthPass
	seen   memory
	report Report
	// aside is what stood in the way of one repair or one request, and held up nothing else.
	aside []error
}

// Pass looks and repairs once. A pass that was cut off at any instant is gone on with by the next.
// *store.HeldError: another process is at it.
func (h *Healer) Pass(ctx context.Context) (report Report, err error) {
	report.Every = h.Every
	if len(h.Checks) == 0 {
		return report, ErrNoChecks
	}
	lock, err := h.Store.LockHealing(ctx, store.Owner{Name: "heal"})
	if err != nil {
		return report, err
	}
	defer func() {
		if released := lock.Release(); released != nil {
			h.Logger.Warn("release lock", "err", released)
		}
	}()
	p := &pass{Healer: h, doc: h.Store.Health(), report: report}
	if err = p.perform(ctx); err == nil {
		err = errors.Join(p.aside...)
	}
	if err != nil && ctx.Err() == nil {
		p.stopped(ctx, err)
	}
	p.report.Health = p.state
	return p.report, err
}

func (p *pass) perform(ctx context.Context) error {
	if err := p.begin(ctx); err != nil {
		return err
	}
	if gate := p.state.Gate(p.Every, p.Clock()); gate.Decision == workflow.GateCooldown && p.state.Loop.Pass == nil {
		p.report.Result = workflow.PassCooldown
		return nil
	}
	if err := p.attendCritical(ctx); err != nil {
		return err
	}
	failed, err := p.settle(ctx)
	if err != nil {
		return err
	}
	if failed { // the cooldown begins before anything else does
		return p.finish(ctx)
	}
	failures, sight, err := p.look(ctx)
	switch {
	case err != nil:
		return err
	case len(failures) > 0:
		return p.repairAll(ctx, failures, sight)
	case p.state.Loop.Pass != nil:
		return p.goOn(ctx, sight)
	}
	return p.quiet(ctx, sight)
}

// goOn ends a pass that judged repairs which were begun before, and in which nothing fails. One that was cut off before it
// did anything is none.
func (p *pass) goOn(ctx context.Context, sight workflow.HealthSight) error {
	err := p.update(ctx, func(h *workflow.Health) {
		h.Loop.Unseen = sight.Unseen
		h.Unmet(nil)
	})
	if err != nil {
		return err
	}
	if p.state.Loop.Pass == nil {
		return p.quiet(ctx, sight)
	}
	if err := p.remember(ctx); err != nil {
		return err
	}
	return p.finish(ctx)
}

// quiet ends a pass in which nothing failed.
func (p *pass) quiet(ctx context.Context, sight workflow.HealthSight) error {
	if !p.state.Shows(sight) {
		return p.unclear(ctx, sight)
	}
	return p.well(ctx, sight)
}

// stopped writes down why the pass ended before it came to a result, for whoever asks where the loop stands.
func (p *pass) stopped(ctx context.Context, why error) {
	line := redact.Line(p.Redact.String(why.Error()), 300)
	if err := p.update(ctx, func(h *workflow.Health) { h.Loop.Stopped = line }); err != nil {
		p.Logger.Warn("write down why the pass ended", "err", err)
	}
}

// begin reads the state, restored if it cannot be read, and what earlier passes saw.
func (p *pass) begin(ctx context.Context) (err error) {
	if p.report.Restored, err = p.doc.Restore(ctx); err != nil {
		return err
	}
	p.state, err = p.doc.Load(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		p.state, err = workflow.NewHealth(p.Clock()), nil
	}
	if err != nil {
		return err
	}
	if p.state.Loop.Stopped != "" { // of the pass before; this one may be killed
		if err := p.update(ctx, func(h *workflow.Health) { h.Loop.Stopped = "" }); err != nil {
			return err
		}
	}
	if p.seen, err = p.remembered(ctx); err != nil {
		return err
	}
	p.begun = workflow.HealthPass{ID: p.ID(), StartedAt: p.Clock().UTC().Format(time.RFC3339)}
	return nil
}

// update changes the state, durably.
func (p *pass) update(ctx context.Context, change func(*workflow.Health)) error {
	return p.doc.Update(ctx, func(h *workflow.Health) error {
		change(h)
		p.state = *h
		return nil
	})
}

// settle goes on with the repairs that were begun before, and says whether one of them failed.
func (p *pass) settle(ctx context.Context) (failed bool, err error) {
	if !slices.ContainsFunc(p.state.Loop.Errors, func(e workflow.HealthError) bool { return e.Attempting }) {
		return false, nil
	}
	var open []string
	if err := p.update(ctx, func(h *workflow.Health) { open = h.Settle(p.begun) }); err != nil {
		return false, err
	}
	for _, id := range open {
		outcome, err := p.repair(ctx, id)
		if err != nil {
			return false, err
		}
		failed = failed || outcome == workflow.RepairFailed
	}
	return failed, nil
}

// repairAll writes down what failed and has it repaired, error by error.
func (p *pass) repairAll(ctx context.Context, failures []workflow.HealthFailure, sight workflow.HealthSight) error {
	err := p.update(ctx, func(h *workflow.Health) {
		h.Loop.Unseen = sight.Unseen
		h.Found(p.begun, failures, p.Clock())
	})
	if err != nil {
		return err
	}
	if err := p.remember(ctx); err != nil {
		return err
	}
	merged := false
	for _, id := range p.state.ToRepair() {
		if gone, err := p.goneBy(ctx, id, merged); err != nil || gone {
			if err != nil {
				return err
			}
			continue
		}
		outcome, err := p.repair(ctx, id)
		if err != nil {
			return err
		}
		merged = merged || outcome == workflow.RepairFixed
	}
	return p.finish(ctx)
}

// finish ends a pass that did something. What it did is in the log before it is out of the state.
func (p *pass) finish(ctx context.Context) error {
	now := p.Clock()
	ahead, err := p.doc.Load(ctx)
	if err != nil {
		return err
	}
	ended := ahead.Finish(p.Every, now)
	if err := p.log(ctx, ended); err != nil {
		return err
	}
	if err := p.update(ctx, func(h *workflow.Health) { h.Finish(p.Every, now) }); err != nil {
		return err
	}
	p.report.Result, p.report.Pass = ended.Result, &ended
	return p.escalate(ctx)
}

// well ends a pass that found nothing wrong. Only a change is written to the log, or told to anybody.
func (p *pass) well(ctx context.Context, sight workflow.HealthSight) error {
	before, now := p.state.LastHealthStatus, p.Clock()
	closed, unclosed, err := p.closeRequests(ctx, p.state.ToClose())
	if err != nil {
		return err
	}
	var ended workflow.HealthPass
	err = p.update(ctx, func(h *workflow.Health) {
		h.Loop.Unseen = sight.Unseen
		ended = h.Well(p.begun, p.Every, now)
		h.Loop.Unclosed = unclosed
	})
	if err != nil {
		return err
	}
	p.report.Result = ended.Result
	if p.state.LastHealthStatus != before || closed > 0 {
		p.report.Pass = &ended
		if err := p.log(ctx, ended); err != nil {
			return err
		}
	}
	return p.remember(ctx)
}

// unclear ends a pass that found nothing wrong because it could not look.
func (p *pass) unclear(ctx context.Context, sight workflow.HealthSight) error {
	var ended workflow.HealthPass
	err := p.update(ctx, func(h *workflow.Health) {
		h.Loop.Unseen = sight.Unseen
		ended = h.Unclear(p.begun, p.Every, p.Clock())
	})
	if err != nil {
		return err
	}
	p.report.Result = ended.Result
	return p.remember(ctx)
}
