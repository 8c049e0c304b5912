package serve

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/app/background"
	"signalbox/internal/app/board"
	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/notify"
	"signalbox/internal/problem"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// project is one project as far as its documents were read.
type project struct {
	Project
	*Server
	store *store.Store
	lock  *store.Lock
	since time.Time
	// webhook takes what its forge sends; nil if it takes nothing.
	webhook atomic.Pointer[http.Handler]
	begun   atomic.Int64
	failed  atomic.Int64
	traced  chan workflow.RunRef
	// tried is closed once it was opened, or couldn't be.
	tried chan struct{}
	// looking has one look at a time, so that what was read earlier never replaces what was read later.
	looking sync.Mutex

	mu  sync.Mutex
	app *app.App
	// kept is app with who else uses it.
	kept *kept
	// obstacle is why it can't be kept going now.
	obstacle error
	cards    map[string]card
	requests []forge.Request
	// begins are the requests whose process is being started.
	begins map[string]bool
	tries  map[string]try
	// orders are those of the forge that wait for the run's end.
	orders map[string]chan error
	turn   time.Time
	timer  *time.Timer
}

// kept is a project that is open, for this many users, with its settings as they were written then.
type kept struct {
	app      *app.App
	settings time.Time
	users    int
}

// settingsOf is when a project's settings were written.
func settingsOf(root string) (at time.Time) {
	if info, err := os.Stat(filepath.Join(root, config.Name)); err == nil {
		at = info.ModTime()
	}
	return at
}

// Use returns a project that is kept going as it is open, for a page or a call: so it is opened, and its files are watched, once. It is nil if the
// project waits for a person, or has settings that are newer. It waits until the project was tried.
func (s *Server) Use(ctx context.Context, name string) (a *app.App, release func()) {
	for _, p := range s.projects {
		if p.Name != name {
			continue
		}
		select {
		case <-p.tried:
		case <-ctx.Done():
			return nil, nil
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		k := p.kept
		if p.app == nil || !settingsOf(k.app.Root).Equal(k.settings) {
			return nil, nil
		}
		k.users++
		return k.app, sync.OnceFunc(func() { p.leave(k) })
	}
	return nil, nil
}

// leave ends a use of an open project. The last closes it.
func (p *project) leave(k *kept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k.users--; k.users == 0 {
		_ = k.app.Store.Close()
	}
}

// card is what is kept of a request with a run: a board has thousands.
type card struct {
	column board.Column
	// works: a process works on it, and needs a slot.
	works  bool
	held   bool
	merged bool
	// cutOff: it should move and no process works on it; it is continued from then on.
	cutOff bool
	then   time.Time
}

// try is when a run was begun last, and when it may be begun again.
type try struct {
	at, again time.Time
	count     int
}

// A run that keeps ending before it says anything is begun again ever more seldom.
const (
	firstPause = 5 * time.Second
	longPause  = 10 * time.Minute
	// reopenAfter is how soon a project that couldn't be opened is tried again: a person may have agreed to trust it.
	reopenAfter = time.Minute
)

// keep keeps the project going until ctx ends.
func (p *project) keep(ctx context.Context) {
	tried := sync.OnceFunc(func() {
		close(p.tried)
		p.untried.Done()
	})
	defer tried()
	for ctx.Err() == nil {
		err := p.open(ctx, tried)
		tried()
		if ctx.Err() != nil {
			return
		}
		p.blocked(err)
		if err == nil {
			continue // its configuration changed
		}
		p.Log.Warn("the project waits", "project", p.Name, "err", err)
		select {
		case <-time.After(reopenAfter):
		case <-ctx.Done():
		}
	}
}

func (p *project) blocked(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.app, p.obstacle = nil, err
}

// open opens the project, and keeps it going until its configuration changes.
func (p *project) open(ctx context.Context, opened func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k, changed, settings, err := p.start(ctx)
	if err != nil {
		return err
	}
	a := k.app
	var group sync.WaitGroup
	defer func() {
		cancel()
		group.Wait()
		a.Notices.Wait()
		p.leave(k)
	}()
	if a.Hosted != nil {
		w, err := p.watcher(a)
		if err != nil {
			return err
		}
		group.Go(func() { p.takeOrders(ctx, w) })
	}
	opened()
	group.Go(func() { p.heal(ctx, a) })
	group.Go(func() { p.trace(ctx, a) })
	for {
		select {
		case id, open := <-changed:
			if !open {
				return ctx.Err()
			}
			p.look(ctx, a, id)
		case <-settings:
			return nil
		case <-p.lock.Lost():
			return errors.New("another process took the project over")
		case <-ctx.Done():
			return nil
		}
	}
}

func (p *project) start(ctx context.Context) (k *kept, changed <-chan string, settings <-chan struct{}, err error) {
	p.opening.Lock()
	defer p.opening.Unlock()
	written := settingsOf(p.Opener.Dir)
	a, err := p.Open(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	k = &kept{a, written, 1}
	err = cmp.Or(a.ConfigError, p.take(ctx))
	if err == nil && p.lock == nil {
		err = errors.New("its documents can't be written")
	}
	if err == nil {
		err = notify.SetPages(ctx, a.Store, p.pages())
	}
	if err == nil {
		changed, err = board.Watch(ctx, a)
	}
	if err == nil {
		settings, err = a.Store.Watch(ctx, config.Name)
	}
	if err != nil {
		return nil, nil, nil, errors.Join(err, a.Store.Close())
	}
	p.mu.Lock()
	p.app, p.kept, p.obstacle, p.cards = a, k, nil, map[string]card{}
	p.begins, p.tries, p.orders = map[string]bool{}, map[string]try{}, map[string]chan error{}
	p.mu.Unlock()
	p.look(ctx, a, "")
	return k, changed, settings, nil
}

// look reads a request's run, or with "" all of them and the requests.
func (p *project) look(ctx context.Context, a *app.App, id string) {
	p.looking.Lock()
	defer p.looking.Unlock()
	var cards []board.Card
	var err error
	if id == "" {
		cards, _, err = board.Read(ctx, a)
	} else if one, ok, failed := board.One(ctx, a, id); failed != nil {
		err = failed
	} else if ok {
		cards = append(cards, one)
	}
	if err != nil {
		if ctx.Err() == nil {
			p.Log.Warn("the project can't be read", "project", p.Name, "err", err)
		}
		return
	}
	for i := range cards {
		if r := cards[i].Run; r != nil && r.UpdatedAt.After(p.since) {
			a.Tell(ctx, *r)
			p.traces(workflow.RefOf(r))
		}
	}
	var requests []forge.Request
	if id == "" && a.Hosted == nil { // people order runs of issues on the forge
		requests, _ = a.Forge.Requests(ctx) // the board shows the broken ones
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := id == ""
	if changed {
		p.requests = requests
	}
	for i := range cards {
		if c := &cards[i]; c.RunID != "" {
			now := cardOf(c)
			was, known := p.cards[c.RequestID]
			changed = changed || !known || now != was
			p.cards[c.RequestID] = now
			p.ended(c.RequestID)
		}
	}
	if changed { // most changes of a run are none of what may begin
		p.wake()
	}
}

func cardOf(c *board.Card) card {
	k := card{column: c.Column}
	if r := c.Run; r != nil {
		k.cutOff = c.Interrupted
		k.merged = r.State == workflow.Done
		k.held = r.UnderWay() && !c.Interrupted
		parked := r.Details.ParkedUntil
		k.works = k.held && parked == nil
		if parked != nil && !r.Watches() { // one that waits for the forge may be woken
			k.then = *parked
		}
	}
	return k
}

// ended tells who ordered a run that no process works on it any more.
func (p *project) ended(id string) {
	if done := p.orders[id]; done != nil && !p.begins[id] && !p.cards[id].held && !p.tries[id].at.IsZero() {
		delete(p.orders, id)
		done <- nil
	}
}

// standing returns how many runs work, how many may, and which are ready to begin. If some will be later, it wakes the server then.
func (p *project) standing() (working, slots int, ready []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.app == nil {
		return 0, 0, nil
	}
	now := p.Opener.Now()
	var next time.Time
	add := func(id string, from time.Time) {
		if t := p.tries[id].again; t.After(from) {
			from = t
		}
		switch {
		case p.begins[id] || p.cards[id].held:
		case !from.After(now):
			ready = append(ready, id)
		case next.IsZero() || from.Before(next):
			next = from
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.orders)) {
		add(id, time.Time{})
	}
	working = len(p.begins)
	var cutOff []string
	for id, c := range p.cards {
		if c.works && !p.begins[id] {
			working++
		}
		if c.cutOff {
			cutOff = append(cutOff, id)
		}
	}
	slices.Sort(cutOff)
	for _, id := range cutOff {
		add(id, p.cards[id].then)
	}
	for i := range p.requests {
		if r := &p.requests[i]; p.mayBegin(r) {
			add(r.ID, time.Time{})
		}
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	if !next.IsZero() {
		p.timer = time.AfterFunc(next.Sub(now), p.wake)
	}
	return working, p.app.Config.MaxParallel, ready
}

// mayBegin reports whether a request says that its run begins by itself, has none yet, and needs nothing that isn't merged.
func (p *project) mayBegin(r *forge.Request) bool {
	_, has := p.cards[r.ID]
	if has || r.Closed || !r.Auto && !slices.ContainsFunc(r.Labels, func(l string) bool { return slices.Contains(p.Labels, l) }) {
		return false
	}
	return !slices.ContainsFunc(r.DependsOn, func(ref string) bool {
		return !slices.ContainsFunc(p.requests, func(o forge.Request) bool {
			return (o.Closed || p.cards[o.ID].merged) && (o.ID == ref || strconv.Itoa(o.Number) == ref)
		})
	})
}

// starting marks a request as being begun.
func (p *project) starting(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.Opener.Now()
	t := p.tries[id]
	if now.Sub(t.at) > longPause {
		t.count = 0
	}
	p.begins[id], p.turn = true, now
	p.tries[id] = try{at: now, again: now.Add(min(firstPause<<min(t.count, 10), longPause)), count: t.count + 1}
}

// begin begins or continues the run of a request, in a process of its own.
func (p *project) begin(ctx context.Context, id string) {
	p.mu.Lock()
	a := p.app
	p.mu.Unlock()
	if a == nil {
		return
	}
	err := p.mayContinue(ctx, a, id)
	if err == nil {
		_, err = background.Starter{Program: p.Program}.Run(ctx, a, id)
	}
	if problem.CodeOf(err) == problem.Held {
		err = nil // someone else was faster
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		p.failed.Add(1)
		p.Log.Warn("the run did not begin", "project", p.Name, "request", id, "err", err)
	default:
		p.begun.Add(1)
		p.Log.Info("a process works on it", "project", p.Name, "request", id)
	}
	p.mu.Lock()
	delete(p.begins, id)
	if done := p.orders[id]; done != nil && err != nil {
		delete(p.orders, id)
		done <- err
	}
	p.mu.Unlock()
	p.look(ctx, a, id)
	p.wake()
}

var errRepair = errors.New("it is a repair, which the next pass of the self-healing loop continues")

// mayContinue leaves the self-healing loop's repairs to it.
func (p *project) mayContinue(ctx context.Context, a *app.App, id string) error {
	if len(a.Config.Health.Checks) == 0 {
		return nil
	}
	state, err := a.Store.Health().Load(ctx)
	if err != nil {
		return nil // the loop says so
	}
	for _, e := range state.Loop.Errors {
		if e.Request == id {
			return errRepair
		}
	}
	return nil
}
