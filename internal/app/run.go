package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"signalbox/internal/commandline"
	"signalbox/internal/config"
	"signalbox/internal/engine"
	"signalbox/internal/forge"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// FromHere turns the path of a file, as the shell completes it, into one from the project's root.
func (p *App) FromHere(ref string) string {
	abs := filepath.Join(p.Dir, ref)
	if info, err := os.Stat(abs); err != nil || !info.Mode().IsRegular() {
		return ref
	}
	if rel, err := filepath.Rel(p.Root, abs); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return ref
}

// StartRuns carries each request, named by its number, its id or its file, as far as it goes without a person: on with its run, or with
// a new one.
func (p *App) StartRuns(ctx context.Context, refs []string, watch Watcher) ([]Result, error) {
	named := make([]string, len(refs))
	for i, ref := range refs {
		named[i] = p.FromHere(ref)
	}
	requests, err := forge.Find(ctx, p.Forge, named...)
	if err != nil {
		return nil, wire.Explained(err)
	}
	return p.runAll(ctx, requests, func(request forge.Request) pick { return p.latestOrNew(request) }, watch)
}

// pick chooses the run to carry. It is called with the request's lock held.
type pick func(context.Context, *engine.Engine) (workflow.RunRef, error)

// latestOrNew goes on with the request's run unless it is over. One that was only made ready for a
// session, or whose process was told to end, waits for nothing but this.
func (p *App) latestOrNew(request forge.Request) pick {
	which := p.latestOr(request, func(ctx context.Context) (workflow.Start, error) {
		if err := p.notARepair(ctx, request); err != nil {
			return workflow.Start{}, err
		}
		return p.Start(ctx, request)
	})
	return func(ctx context.Context, r *engine.Engine) (workflow.RunRef, error) {
		ref, err := which(ctx, r)
		var run workflow.Run
		if err == nil {
			run, err = p.Store.Stage(ref).Load(ctx)
		}
		if err != nil || run.Error == nil || run.Error.ReasonCode != workflow.PreparedCode && !run.Interrupted() {
			return ref, err
		}
		return ref, p.Store.Signal(ctx, ref, func(s *workflow.Signals) error {
			s.ResumeRequested = true
			return nil
		})
	}
}

func (p *App) latestOr(request forge.Request, begin func(context.Context) (workflow.Start, error)) pick {
	return p.LatestIf(request, func() error { return errors.Join(p.MayBegin(), p.MayCall()) }, begin)
}

// LatestIf is latestOr with what has to hold before a run begins.
func (p *App) LatestIf(request forge.Request, may func() error, begin func(context.Context) (workflow.Start, error)) pick {
	return func(ctx context.Context, r *engine.Engine) (workflow.RunRef, error) {
		latest, err := p.Store.LatestRun(ctx, request.ID)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return workflow.RunRef{}, err
		case latest.Err != nil:
			return workflow.RunRef{}, unreadableRun(fmt.Sprint(request.Number), &latest)
		case latest.Run.State != workflow.Canceled:
			return latest.Ref, errors.Join(p.ownRun(ctx, latest.Ref), p.settingsStand(&latest.Run, request))
		default:
			if err := r.Settle(ctx, latest.Run); err != nil {
				return workflow.RunRef{}, err
			}
		}
		if err := may(); err != nil {
			return workflow.RunRef{}, err
		}
		start, err := begin(ctx)
		if err != nil {
			return workflow.RunRef{}, err
		}
		if start.RunID, err = runIDAfter(latest.Ref.RunID); err != nil {
			return workflow.RunRef{}, err
		}
		if err := p.WarnOfSettings(ctx, start.Base); err != nil {
			return workflow.RunRef{}, err
		}
		run := workflow.New(start, now().UTC())
		return workflow.RefOf(&run), p.Store.CreateRun(ctx, &run)
	}
}

// runIDAfter is a run's id that sorts behind another, empty for none: the newest run is found by its id,
// which knows seconds, and a clock may be set back.
func runIDAfter(other string) (string, error) {
	id, err := store.NewRunID(now(), rand.Reader)
	if err != nil || id > other {
		return id, err
	}
	before, err := time.Parse(runIDTime, other[:min(len(other), len(runIDTime))])
	if err != nil {
		return "", fmt.Errorf("begin a run after run %s: %w", other, err)
	}
	return store.NewRunID(before.Add(time.Second), rand.Reader)
}

const runIDTime = "20060102-150405"

// settingsStand refuses flags that say something else than the settings which the run began with: it would
// ignore them.
func (p *App) settingsStand(run *workflow.Run, request forge.Request) error {
	if run.State.Final() {
		return nil
	}
	began, differ := &run.Details.Settings, []string(nil)
	if len(p.Overrides.Workflow) > 0 {
		name, phases, err := workflow.WorkflowPhases(p.Overrides.Workflow...)
		if err != nil {
			return &problem.Error{Err: err, Hint: "see what there is: signalbox run --help", Code: problem.Usage}
		}
		if name != began.Workflow || !slices.Equal(phases, began.Phases) {
			differ = append(differ, "--workflow (it is "+began.Workflow+")")
		}
	}
	if approve := p.Overrides.Approve; approve != "" && (approve == config.ApproveAuto) != began.AutoApprove {
		differ = append(differ, "--approve")
	}
	if base := cmp.Or(request.Base, p.Overrides.Base); p.Overrides.Base != "" && base != run.Details.Base {
		differ = append(differ, "--base (it is "+redact.Line(run.Details.Base, 60)+")")
	}
	if len(differ) == 0 {
		return nil
	}
	return &problem.Error{Err: fmt.Errorf("run %s is under way and began with another %s", run.Ref(), strings.Join(differ, " and ")), Code: problem.Usage,
		Hint: fmt.Sprintf("continue it as it began: signalbox resume %s; or give it up first: signalbox stop --cancel %[1]s", run.Ref())}
}

// beginAtOnce is how many runs begin at the same time, so that the first of a thousand works while the
// last is still being written down.
const beginAtOnce = 8

// Carried is how far one run was carried, and what ended that early.
type Result struct {
	Run workflow.Run
	Err error
}

// carryAll carries one run per request, all at once; the queue keeps their number down.
func (p *App) runAll(ctx context.Context, requests []forge.Request, which func(forge.Request) pick, watch Watcher) ([]Result, error) {
	p.WarnOfLogins()
	if err := SettleSessions(ctx, p.Store); err != nil {
		return nil, wire.Explained(err)
	}
	r, err := p.Runner(ctx, watch(p))
	if err != nil {
		return nil, err
	}
	p.forgetStatuses(ctx)
	results := make([]Result, len(requests))
	var group sync.WaitGroup
	beginning := make(chan struct{}, beginAtOnce)
	for i, request := range requests {
		beginning <- struct{}{}
		begun := sync.OnceFunc(func() { <-beginning })
		group.Go(func() {
			defer begun()
			results[i].Run, results[i].Err = p.Run(ctx, r, request, func(ctx context.Context, r *engine.Engine) (workflow.RunRef, error) {
				defer begun()
				return which(request)(ctx, r)
			})
		})
	}
	group.Wait()
	return results, nil
}

func (p *App) Run(ctx context.Context, r *engine.Engine, request forge.Request, which pick) (workflow.Run, error) {
	run, err := r.Run(ctx, request.ID, fmt.Sprintf("run %d", request.Number), func(ctx context.Context) (workflow.RunRef, error) {
		return which(ctx, r)
	})
	var held *store.HeldError
	if errors.As(err, &held) {
		return run, HeldRequest(request.Number, held.Holder)
	}
	return run, wire.Explained(err)
}

func Holder(r store.LockRecord) string {
	if r.PID == 0 {
		return "it has not said which"
	}
	return fmt.Sprintf("pid %d on %s since %s", r.PID, r.Host, commandline.When(r.AcquiredAt))
}

// goOn carries one run that exists.
func (p *App) goOn(ctx context.Context, ref workflow.RunRef, run *workflow.Run, watch Watcher) ([]Result, error) {
	request := forge.Request{ID: ref.RequestID, Number: run.Details.Number}
	return p.runAll(ctx, []forge.Request{request}, func(forge.Request) pick {
		return func(ctx context.Context, _ *engine.Engine) (workflow.RunRef, error) { return ref, p.ownRun(ctx, ref) }
	}, watch)
}
