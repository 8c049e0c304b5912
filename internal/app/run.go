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
	"signalbox/internal/health"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// FromHere turns the path of a file, as the shell completes it, into a path from the project's root.
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

// StartRuns runs each request, named by its number, its id, its file or its address, as far as it goes without a person. It resumes the
// request's run, or begins one.
func (p *App) StartRuns(ctx context.Context, refs []string, watch Watcher) ([]Result, error) {
	named := make([]string, len(refs))
	for i, ref := range refs {
		named[i] = p.FromHere(ref)
	}
	requests, err := forge.Find(ctx, p.Forge, named...)
	if err != nil {
		return nil, wire.Explained(err)
	}
	return p.runAll(ctx, requests, watch, func(ctx context.Context, r *engine.Engine, request forge.Request) (workflow.RunRef, error) {
		ref, err := p.LatestIf(ctx, r, request, p.MayRun, func(ctx context.Context) (workflow.Start, error) {
			// Only the self-healing loop runs a repair's check again on what would be merged. A state.json that can't be read may name this one.
			state, err := p.Store.Health().Load(ctx)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return workflow.Start{}, wire.Explained(err)
			}
			if err == nil && slices.ContainsFunc(state.Loop.Errors, func(e health.Error) bool { return e.Request == request.ID }) {
				return workflow.Start{}, &problem.Error{Err: fmt.Errorf("request %s is a repair, which only its own check can prove", request.ID), Hint: "signalbox heal"}
			}
			if err := p.mayStart(ctx, request); err != nil {
				return workflow.Start{}, err
			}
			return p.Start(ctx, request)
		})
		if err != nil {
			return ref, err
		}
		// A run that was only prepared for a session, or whose process was told to end, waits for nothing else.
		return ref, p.resumeIf(ctx, ref, func(run *workflow.Run) bool {
			return run.Error != nil && (run.Error.ReasonCode == workflow.PreparedCode || run.Interrupted())
		})
	})
}

// mayStart refuses a run that its request or the configuration would stop later, after calls that are paid for or for no good reason.
func (p *App) mayStart(ctx context.Context, request forge.Request) error {
	if len(request.DependsOn) > 0 {
		// If a file can't be read, it may be the one that seems to be missing. The run finds that out.
		if all, err := p.around(ctx, request); err == nil {
			if err := CheckDependencies(request, all); err != nil {
				return err
			}
		}
	}
	if err := p.MayAnswer(); err != nil {
		return err
	}
	return p.MayRunLines(ctx, request)
}

// LatestIf is the request's latest run or, if that was canceled or there is none, a new one that begin describes and may allows.
// It is called with the request's lock held.
func (p *App) LatestIf(ctx context.Context, r *engine.Engine, request forge.Request, may func() error, begin func(context.Context) (workflow.Start, error)) (workflow.RunRef, error) {
	latest, err := p.Store.LatestRun(ctx, request.ID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return workflow.RunRef{}, err
	case latest.Err != nil:
		return workflow.RunRef{}, unreadableRun(fmt.Sprint(request.Number), &latest)
	case latest.Run.State != workflow.Canceled:
		return latest.Ref, errors.Join(p.ownRun(ctx, latest.Ref), p.sameSettings(&latest.Run, request))
	default:
		if err := r.Project(ctx, latest.Run); err != nil {
			return workflow.RunRef{}, err
		}
	}
	if err := errors.Join(may(), p.numberIsFree(ctx, request)); err != nil {
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
	run := workflow.New(start, time.Now().UTC())
	return workflow.RefOf(&run), p.Store.CreateRun(ctx, &run)
}

// runIDAfter is a run id that sorts after another, which may be empty. The newest run is found by its id, which counts in seconds,
// and a clock may be set back.
func runIDAfter(other string) (string, error) {
	id, err := store.NewRunID(time.Now(), rand.Reader)
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

// sameSettings refuses flags that differ from the settings with which the run began: the run would ignore them.
func (p *App) sameSettings(run *workflow.Run, request forge.Request) error {
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
	if approve := p.Overrides.Approve; approve != "" && ((approve == config.ApproveAuto) != began.AutoApprove || (approve == config.ApproveForge) != began.ApproveOnForge) {
		differ = append(differ, "--approve")
	}
	if base := cmp.Or(request.Base, p.Overrides.Base); p.Overrides.Base != "" && base != run.Details.Base {
		differ = append(differ, "--base (it is "+redact.Line(run.Details.Base, 60)+")")
	}
	if len(differ) == 0 {
		return nil
	}
	return &problem.Error{Err: fmt.Errorf("run %s is under way and began with another %s", run.Ref(), strings.Join(differ, " and ")), Code: problem.Usage,
		Hint: fmt.Sprintf("continue it as it began: %s; or give it up first: signalbox stop --cancel %s", commandline.For(run, workflow.VerbResume), run.Ref())}
}

// beginAtOnce is how many runs begin at the same time: each has files open until it rests in the queue. The first of a thousand
// should work while the last is still being created.
const beginAtOnce = 8

// Result is how far one run came, and the error that ended it early.
type Result struct {
	Run workflow.Run
	Err error
}

// runAll runs one run per request, all at once; the engine's queue limits how many work. which chooses the run of a request, with
// the request's lock held.
func (p *App) runAll(ctx context.Context, requests []forge.Request, watch Watcher, which func(context.Context, *engine.Engine, forge.Request) (workflow.RunRef, error)) ([]Result, error) {
	p.WarnOfLogins()
	if err := SettleSessions(ctx, p.Store); err != nil {
		return nil, wire.Explained(err)
	}
	r, err := p.Runner(ctx, watch(p))
	if err != nil {
		return nil, err
	}
	if keep := p.Config.KeepStatuses; keep != 0 {
		clean := IssueCleanup{Tell: func(CleanedIssue) {}, keep: keep}
		if err := clean.in(ctx, p.Store); err != nil { // no reason to fail a run
			p.Log.Warn("old statuses are not removed", "err", err)
		}
	}
	results := make([]Result, len(requests))
	var group sync.WaitGroup
	beginning := make(chan struct{}, beginAtOnce)
	for i, request := range requests {
		beginning <- struct{}{}
		begun := sync.OnceFunc(func() { <-beginning })
		group.Go(func() {
			defer begun()
			own := *r
			own.Begun = begun
			results[i].Run, results[i].Err = p.Run(ctx, &own, request, func(ctx context.Context) (workflow.RunRef, error) {
				return which(ctx, r, request)
			})
		})
	}
	group.Wait()
	return results, nil
}

// Run runs a request's run, which is chosen with the request's lock held.
func (p *App) Run(ctx context.Context, r *engine.Engine, request forge.Request, which func(context.Context) (workflow.RunRef, error)) (workflow.Run, error) {
	run, err := r.Run(ctx, request.ID, fmt.Sprintf("run %d", request.Number), which)
	var held *store.HeldError
	if errors.As(err, &held) {
		return run, HeldRequest(request.Number, held.Holder)
	}
	return run, wire.Explained(err)
}

// Holder names the process that holds a lock.
func Holder(r store.LockRecord) string {
	if r.PID == 0 {
		return "it has not said which"
	}
	return fmt.Sprintf("pid %d on %s since %s", r.PID, r.Host, commandline.When(r.AcquiredAt))
}
