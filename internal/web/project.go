package web

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/app/board"
	"signalbox/internal/language"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// project is one project. It is watched once for all that look at it, from the server's start on, so that no page waits until all runs are read.
type project struct {
	site *site
	ctx  context.Context
	name string
	open Open

	mu sync.Mutex
	// now is nil before the first look, and if it failed.
	now *watched
}

// gathers is how long changes are gathered before they are shown: runs change in bursts.
const gathers = 15 * time.Millisecond

// watched is a project that is open, with its cards as they are.
type watched struct {
	project *project
	app     *app.App
	end     func()
	// settings are those it was opened with, unready why they let no request be run. looking counts who looks at it; one that is replaced ends with the last. Both belong to the project's lock.
	settings, opened time.Time
	looking          int

	unready *notice

	mu     sync.Mutex
	cards  map[string]*card // by request id
	sorted []*card
	broken string
	// turn counts the changes of this watch.
	turn  uint64
	wakes map[chan struct{}]bool
}

// card is a card of the board as it is now.
type card struct {
	board.Card
	id, version string
	// turn is that of its last change.
	turn uint64
	// html is the card as HTML, by language; made when it is first shown.
	html map[language.Language]template.HTML
}

// path is an address below the project's.
func (pr *project) path(rest string) string { return "/p/" + pr.name + "/" + rest }

// runPath is the address of a request's run.
func (pr *project) runPath(request string) string { return pr.path("runs/" + url.PathEscape(request)) }

// opened is the project if someone looks at it.
func (pr *project) opened() *app.App {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	if pr.now == nil {
		return nil
	}
	return pr.now.app
}

// look opens the project at the first look, and again once its settings have changed, or the user may have agreed to them. It returns what must be called at the look's end.
func (pr *project) look() (*watched, func(), error) {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	if w := pr.now; w != nil && (!settingsOf(w.app).Equal(w.settings) || w.unready != nil && w.app.Now().Sub(w.opened) > time.Second) {
		if pr.now = nil; w.looking == 0 {
			w.end()
		}
	}
	if pr.now == nil {
		w, err := pr.watch()
		if err != nil {
			return nil, nil, err
		}
		pr.now = w
	}
	w := pr.now
	w.looking++
	return w, sync.OnceFunc(func() {
		pr.mu.Lock()
		defer pr.mu.Unlock()
		if w.looking--; w.looking == 0 && pr.now != w {
			w.end()
		}
	}), nil
}

// settingsOf is when the project's settings were written.
func settingsOf(p *app.App) (at time.Time) {
	if info, err := os.Stat(filepath.Join(p.Root, ".signalbox", "config.yaml")); err == nil {
		at = info.ModTime()
	}
	return at
}

// watch opens the project, reads its board and keeps it up to date.
func (pr *project) watch() (*watched, error) {
	ctx, stop := context.WithCancel(pr.ctx)
	ctx, p, closeProject, err := pr.open(ctx)
	if err != nil {
		stop()
		return nil, err
	}
	w := &watched{project: pr, app: p, settings: settingsOf(p), opened: p.Now(), cards: map[string]*card{}, wakes: map[chan struct{}]bool{}}
	if err := p.Unready(); err != nil {
		w.unready = pr.notice("unready", err, w.app)
	}
	changes, err := board.Watch(ctx, p)
	if err == nil {
		err = w.readAll(ctx)
	}
	if err != nil {
		stop()
		closeProject()
		return nil, err
	}
	done := make(chan struct{})
	w.end = func() { stop(); <-done; closeProject() }
	go func() {
		defer close(done)
		w.follow(ctx, changes)
	}()
	return w, nil
}

// follow reads the cards that changed, until ctx ends.
func (w *watched) follow(ctx context.Context, changes <-chan string) {
	for id := range changes {
		ids := map[string]bool{id: true}
		for within := time.After(gathers); within != nil; {
			select {
			case more, open := <-changes:
				if !open {
					return
				}
				ids[more] = true
			case <-within:
				within = nil
			}
		}
		var err error
		if ids[""] {
			err = w.readAll(ctx)
		} else {
			err = w.read(ctx, slices.Collect(maps.Keys(ids)))
		}
		if err != nil && ctx.Err() == nil {
			w.project.site.Logger.Warn("read the board", "project", w.project.name, "err", err)
		}
	}
}

func (w *watched) readAll(ctx context.Context) error {
	all, broken, err := board.Read(ctx, w.app)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken = ""; broken != nil {
		w.broken = redact.Cut(text(w.app, broken.Error()), 4000)
	}
	there := map[string]bool{}
	for _, c := range all {
		there[c.RequestID] = true
		w.set(c)
	}
	maps.DeleteFunc(w.cards, func(id string, _ *card) bool { return !there[id] })
	w.changed()
	return nil
}

func (w *watched) read(ctx context.Context, ids []string) error {
	some, err := board.Some(ctx, w.app, ids...)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	there := map[string]bool{}
	for _, c := range some {
		there[c.RequestID] = true
		w.set(c)
	}
	for _, id := range ids {
		if !there[id] {
			delete(w.cards, id)
		}
	}
	w.changed()
	return nil
}

// set takes a card as it is now.
func (w *watched) set(c board.Card) {
	now := &card{Card: c, id: "c." + w.project.name + "." + c.RequestID, turn: w.turn + 1, html: map[language.Language]template.HTML{}}
	now.version = fmt.Sprintf("%.6s.%d.%s", c.RunID[max(0, len(c.RunID)-6):], c.Transition, fingerprint(string(c.Column), c.Title, c.Message, c.Problem, fmt.Sprint(c.Interrupted, c.Percent)))
	if r := c.Run; r != nil && r.State.Final() { // there may be thousands
		now.Run = &workflow.Run{RequestID: r.RequestID, RunID: r.RunID, State: r.State, Details: workflow.Details{Number: r.Details.Number}}
	}
	if was := w.cards[c.RequestID]; was == nil || was.version != now.version {
		w.cards[c.RequestID] = now
	}
}

// changed sorts the cards and wakes all that show them. A card in work keeps its place, whatever it does.
func (w *watched) changed() {
	w.turn++
	w.sorted = slices.SortedFunc(maps.Values(w.cards), func(a, b *card) int {
		order := slices.Index(board.Columns, a.Column) - slices.Index(board.Columns, b.Column)
		switch a.Column {
		case board.NeedsYou, board.Ready:
			order = cmp.Or(order, a.Since.Compare(b.Since))
		case board.Done:
			order = cmp.Or(order, b.Since.Compare(a.Since))
		}
		return cmp.Or(order, a.Number-b.Number, strings.Compare(a.RequestID, b.RequestID))
	})
	for wake := range w.wakes {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

// wake has news signalled at each change, until what it returns is called.
func (w *watched) wake(news chan struct{}) func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wakes[news] = true
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.wakes, news)
	}
}

// all are the cards in their order, and the turn as of which they are.
func (w *watched) all() (cards []*card, turn uint64, broken string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sorted, w.turn, w.broken
}

// watermark is the time of the newest transition of any run, in the documents alone.
func (w *watched) watermark() (newest time.Time) {
	cards, _, _ := w.all()
	for _, c := range cards {
		if c.Since.After(newest) {
			newest = c.Since
		}
	}
	return newest
}

// requestOf is the id of the request that an address names, by its id or its number.
func (w *watched) requestOf(ref string) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cards[ref] != nil {
		return ref, nil
	}
	n, err := strconv.Atoi(ref)
	for id, c := range w.cards {
		if err == nil && c.Number == n {
			return id, nil
		}
	}
	return "", &problem.Error{Code: problem.NotFound}
}

// shown is the card as HTML.
func (w *watched) shown(l language.Language, c *card) template.HTML {
	w.mu.Lock()
	defer w.mu.Unlock()
	html, ok := c.html[l]
	if !ok {
		var err error
		if html, err = w.project.site.part(l, "board", "card", w.view(l, c)); err != nil {
			w.project.site.Logger.Warn("show a card", "err", err)
		}
		c.html[l] = html
	}
	return html
}
