package ci

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/app/intake"
	"signalbox/internal/forge"
	"signalbox/internal/problem"
	"signalbox/internal/store"
	"signalbox/internal/wire"
)

// MaxAge is how old an order may be that the first job of an issue obeys: a job may have waited that long for its runner.
const MaxAge = 24 * time.Hour

// Job is one job for an issue.
type Job struct {
	// Tell is given what was ordered on the issue.
	Tell func(intake.Result)
	// Run begins or continues the run, and returns when it ended.
	Run func(ctx context.Context, ref string) error
}

// Do takes the new orders on an issue, and runs the issue if they ask for that. The event that started the job proves nothing: the forge says
// what was ordered, by whom, and whether they may.
func (j Job) Do(ctx context.Context, p *app.App, number int) (err error) {
	config, err := intake.Of(p)
	if err != nil {
		return err
	}
	lock, err := p.Store.LockOnly(ctx, "watching", "signalbox ci run")
	if held := (*store.HeldError)(nil); errors.As(err, &held) {
		return &problem.Error{Err: fmt.Errorf("another process takes this project's orders: %s", app.Holder(held.Holder)), Code: problem.Held}
	}
	if err != nil {
		return wire.Explained(err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := intake.Adopt(ctx, p.Store, number, nil, p.Now().Add(-MaxAge)); err != nil {
		return wire.Explained(err)
	}
	in := intake.New(config)
	result, err := in.Read(ctx, forge.Wake{Numbers: []int{number}, MayStart: true})
	j.Tell(result)
	if err != nil {
		return wire.Explained(err)
	}
	ref := strconv.Itoa(number)
	if !slices.Contains(result.Run, ref) {
		return &problem.Error{Err: fmt.Errorf("nothing new is ordered on issue %d by someone who may", number), Code: problem.NothingDue,
			Hint: `people with write access order by the label or by the comment "/signalbox run"`}
	}
	ran := j.Run(ctx, ref)
	if problem.CodeOf(ran) == problem.General {
		return errors.Join(ran, in.NotRun(ctx, ref, ran))
	}
	_, err = in.Read(ctx, forge.Wake{}) // notes that the order is settled
	return errors.Join(ran, wire.Explained(err))
}
