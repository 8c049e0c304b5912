package hosted

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"signalbox/internal/forge"
	"signalbox/internal/store"
)

// queued is the head of a pull request that the server's queue has taken.
type queued struct {
	Head string `json:"head"`
}

func (f *Forge) queued(number int) *store.Document[queued] {
	return store.Record[queued](f.Store, issuesKind, "queued-"+strconv.Itoa(number))
}

// enqueue has the server's queue merge a pull request, and returns *forge.PendingError as long as the queue has it. What the queue gave back, a
// person looks at: it would give it back again. The record follows the call, so a crash between them repeats the call, which changes nothing.
func (f *Forge) enqueue(ctx context.Context, pr forge.PullRequest) error {
	queue, ok := f.Server.(forge.Queue)
	if !ok {
		return errNoQueue
	}
	now := f.Clock()
	waits := &forge.PendingError{Kind: forge.AwaitedQueue, For: []string{"the merge queue"}, LookAgain: f.lookAgain(now.Sub(pr.UpdatedAt))}
	known, err := f.queued(pr.Number).Load(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if known.Head != pr.Head {
		if err := queue.Enqueue(ctx, pr.Number, pr.Head); err != nil {
			return fmt.Errorf("put it into the merge queue: %w", err)
		}
		if err := f.remember(ctx, pr.Number, pr.Head); err != nil {
			return err
		}
		return waits
	}
	there, err := queue.Queued(ctx, pr.Number)
	if err != nil {
		return fmt.Errorf("look for it in the merge queue: %w", err)
	}
	if there {
		return waits
	}
	if p, err := f.ours(ctx, pr); err != nil || p.State != forge.Open { // the queue has just merged it
		waits.LookAgain = now
		return errors.Join(err, waits)
	}
	if err := f.remember(ctx, pr.Number, ""); err != nil {
		return err
	}
	return &forge.Failure{Kind: forge.Refused, Err: errors.New("the merge queue gave the pull request back: its page says why")}
}

func (f *Forge) remember(ctx context.Context, number int, head string) error {
	return f.queued(number).Update(ctx, func(q *queued) error {
		q.Head = head
		return nil
	})
}
