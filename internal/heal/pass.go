package heal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"signalbox/internal/health"
	"signalbox/internal/redact"
	"signalbox/internal/store"
)

// pass is the current pass. state is the document as last saved.
type pass struct {
	Config
	doc    *store.Document[health.State]
	state  health.State
	begun  health.Pass
	seen   memory
	report Report
	// aside collects errors that concerned a single repair or request and did not end the pass.
	aside []error
}

// Pass checks the project and repairs it once. It keeps no state outside of the store. A pass killed at any point is resumed by the next call. It returns *store.HeldError if another
// process is running a pass.
func (c Config) Pass(ctx context.Context) (report Report, err error) {
	report.Every = c.Every
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Observe == nil {
		c.Observe = func(string) {}
	}
	if len(c.Checks) == 0 {
		return report, ErrNoChecks
	}
	lock, err := c.Store.LockHealing(ctx, "heal")
	if err != nil {
		return report, err
	}
	defer func() {
		if released := lock.Release(); released != nil {
			c.Logger.Warn("release lock", "err", released)
		}
	}()
	p := &pass{Config: c, doc: c.Store.Health(), report: report}
	if err = p.perform(ctx); err == nil {
		err = errors.Join(p.aside...)
	}
	if err != nil && ctx.Err() == nil {
		line := redact.Line(p.Redact.String(err.Error()), 300) // for status displays
		if err := p.update(ctx, func(h *health.State) { h.Loop.Stopped = line }); err != nil {
			c.Logger.Warn("record why the pass ended", "err", err)
		}
	}
	p.report.Health = p.state
	return p.report, err
}

func (p *pass) perform(ctx context.Context) error {
	if err := p.begin(ctx); err != nil {
		return err
	}
	if gate := p.state.Gate(p.Every, p.Clock()); gate.Decision == health.GateCooldown && p.state.Loop.Pass == nil {
		p.report.Result = health.PassCooldown
		return nil
	}
	if err := p.attendCritical(ctx); err != nil {
		return err
	}
	failed, err := p.resume(ctx)
	if err != nil {
		return err
	}
	if failed { // the cooldown comes before anything new
		return p.finish(ctx)
	}
	failures, sight, err := p.look(ctx)
	switch {
	case err != nil:
		return err
	case len(failures) > 0:
		return p.repairAll(ctx, failures, sight)
	case p.state.Loop.Pass != nil:
		return p.finishResumed(ctx, sight)
	}
	return p.quiet(ctx, sight)
}

// begin reads the state, restoring it if it is unreadable, and the memory of earlier passes.
func (p *pass) begin(ctx context.Context) (err error) {
	if p.report.Restored, err = p.doc.Restore(ctx); err != nil {
		return err
	}
	p.state, err = p.doc.Load(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		p.state, err = health.New(p.Clock()), nil
	}
	if err != nil {
		return err
	}
	if p.state.Loop.Stopped != "" { // left by the pass before; this one may be killed
		if err := p.update(ctx, func(h *health.State) { h.Loop.Stopped = "" }); err != nil {
			return err
		}
	}
	p.seen, err = store.Record[memory](p.Store, recordKind, seenRecord).Load(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read what was seen before: %w", err)
	}
	p.seen.fresh = map[string]sight{}
	p.begun = health.Pass{ID: p.ID(), StartedAt: p.Clock().UTC().Format(time.RFC3339)}
	return nil
}

// update changes the state durably.
func (p *pass) update(ctx context.Context, change func(*health.State)) error {
	return p.doc.Update(ctx, func(h *health.State) error {
		change(h)
		p.state = *h
		return nil
	})
}

// resume continues the repairs that were started earlier, and reports whether one of them failed.
func (p *pass) resume(ctx context.Context) (failed bool, err error) {
	if !slices.ContainsFunc(p.state.Loop.Errors, func(e health.Error) bool { return e.Attempting }) {
		return false, nil
	}
	var open []string
	if err := p.update(ctx, func(h *health.State) { open = h.ResumeRepairs(p.begun) }); err != nil {
		return false, err
	}
	for _, id := range open {
		outcome, err := p.repair(ctx, id)
		if err != nil {
			return false, err
		}
		failed = failed || outcome == health.RepairFailed
	}
	return failed, nil
}

// repairAll records the failures and repairs them one by one.
func (p *pass) repairAll(ctx context.Context, failures []health.Failure, sight health.Sight) error {
	err := p.update(ctx, func(h *health.State) {
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
		merged = merged || outcome == health.RepairFixed
	}
	return p.finish(ctx)
}

// setAside logs an error that concerns one check or repair, so the pass goes on, and keeps it for the report. It returns errors that must end the
// pass.
func (p *pass) setAside(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	p.aside = append(p.aside, err)
	return nil
}
