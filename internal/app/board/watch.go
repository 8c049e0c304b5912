package board

import (
	"context"
	"strings"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/store"
)

// Watch sends the id of each request whose card may have changed after Watch returned; "" if any card may have. The channel is closed
// when ctx ends. It asks for nothing while no process works on the project.
func Watch(ctx context.Context, p *app.App) (<-chan string, error) {
	documents, err := p.Store.WatchDocuments(ctx)
	if err != nil {
		return nil, err
	}
	locks, err := p.Store.WatchSlots(ctx)
	if err != nil {
		return nil, err
	}
	requests, err := p.Store.Watch(ctx, "requests")
	if err != nil {
		return nil, err
	}
	w := watching{app: p, ids: make(chan string)}
	w.holders, err = w.working(ctx)
	go w.run(ctx, documents, locks, requests)
	return w.ids, err
}

type watching struct {
	app *app.App
	ids chan string
	// holders are the requests on which a process works.
	holders map[string]bool
}

func (w *watching) run(ctx context.Context, documents <-chan store.Change, locks, requests <-chan struct{}) {
	defer close(w.ids)
	for ctx.Err() == nil {
		var dead <-chan time.Time
		if len(w.holders) > 0 {
			dead = time.After(app.DeadPoll) // a process that is killed writes nothing
		}
		select {
		case change, open := <-documents:
			if id, run := requestOf(change.Path); open && run {
				w.send(ctx, id)
			}
		case <-requests:
			w.send(ctx, "")
		case <-locks:
			w.compare(ctx)
		case <-dead:
			w.compare(ctx)
		case <-ctx.Done():
		}
	}
}

// compare reports the requests on which a process began or ceased to work.
func (w *watching) compare(ctx context.Context) {
	now, err := w.working(ctx)
	if err != nil {
		return // the next look finds out
	}
	was := w.holders
	w.holders = now
	for id := range was {
		if !now[id] {
			w.send(ctx, id)
		}
	}
	for id := range now {
		if !was[id] {
			w.send(ctx, id)
		}
	}
}

func (w *watching) working(ctx context.Context) (map[string]bool, error) {
	holders, err := w.app.Store.Holders(ctx)
	ids := map[string]bool{}
	for _, h := range holders {
		if id, ok := strings.CutPrefix(h.Name, "request-"); ok {
			ids[id] = true
		}
	}
	return ids, err
}

func (w *watching) send(ctx context.Context, id string) {
	select {
	case w.ids <- id:
	case <-ctx.Done():
	}
}

// requestOf returns the request whose run's stage.json is at path.
func requestOf(path string) (id string, ok bool) {
	parts := strings.Split(path, "/")
	if len(parts) == 4 && parts[0] == "runs" && parts[3] == "stage.json" {
		return parts[1], true
	}
	return "", false
}
