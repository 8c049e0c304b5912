package heal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"signalbox/internal/forge"
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
	err = p.perform(ctx)
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
	failures, err := p.look(ctx)
	switch {
	case err != nil:
		return err
	case len(failures) > 0:
		return p.repairAll(ctx, failures)
	case p.state.Loop.Pass != nil:
		return p.finish(ctx)
	}
	return p.well(ctx)
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
func (p *pass) repairAll(ctx context.Context, failures []workflow.HealthFailure) error {
	if err := p.update(ctx, func(h *workflow.Health) { h.Found(p.begun, failures, p.Clock()) }); err != nil {
		return err
	}
	if err := p.remember(ctx); err != nil {
		return err
	}
	for _, id := range p.state.ToRepair() {
		if _, err := p.repair(ctx, id); err != nil {
			return err
		}
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
func (p *pass) well(ctx context.Context) error {
	before, now := p.state.LastHealthStatus, p.Clock()
	closed := p.state.ToClose()
	for _, id := range closed {
		if err := p.closeRequest(ctx, id); err != nil {
			return err
		}
	}
	var ended workflow.HealthPass
	if err := p.update(ctx, func(h *workflow.Health) { ended = h.Well(p.begun, p.Every, now) }); err != nil {
		return err
	}
	p.report.Result = ended.Result
	if p.state.LastHealthStatus != before || len(closed) > 0 {
		p.report.Pass = &ended
		if err := p.log(ctx, ended); err != nil {
			return err
		}
	}
	return p.remember(ctx)
}

// closeRequest closes a request about an error that is gone by itself; one that is not there is closed.
func (p *pass) closeRequest(ctx context.Context, id string) error {
	request, err := p.Forge.Request(ctx, id)
	if errors.Is(err, forge.ErrNotFound) || err == nil && request.Closed {
		return nil
	}
	if err == nil {
		err = p.Forge.Comment(ctx, request, "health-closed", fmt.Sprintf("%d passes in a row found nothing wrong, so this is closed.", workflow.HealthyPasses))
	}
	if err == nil {
		err = p.Forge.CloseRequest(ctx, request, "")
	}
	if err != nil {
		return fmt.Errorf("close request %s: %w", id, err)
	}
	p.Observe(fmt.Sprintf("closed request %s: %d passes in a row found nothing wrong", id, workflow.HealthyPasses))
	return nil
}
