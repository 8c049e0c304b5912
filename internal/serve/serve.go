// Package serve keeps projects going: it begins the runs of requests that say so, continues those that were cut off, takes orders and webhooks from
// forges, has the self-healing loop make its passes, tells people about runs, and answers over HTTP. It executes no run itself: each is a process of
// its own, which lives on if serve is killed, stopped or replaced by a newer one. It knows nothing that isn't in the documents, so a new one goes on
// where the last was.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/notify"
	"signalbox/internal/problem"
	"signalbox/internal/serve/trace"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// Config is what serve needs. Fields without a comment that says so are required.
type Config struct {
	Projects []Project
	// Program is signalbox, whose processes execute runs.
	Program string
	// AtOnce is how many runs work at once in all projects together; 0 leaves it to each project.
	AtOnce int
	// Labels have a request's run begun, as "run: auto" does.
	Labels []string
	// Listener is where to answer, at Address; nil for nowhere. Server is given what answers about serve itself, and returns what answers all.
	Listener net.Listener
	Server   func(own http.Handler) *http.Server
	Address  string
	// Metrics is where to answer programs that watch this one; nil for nowhere. It asks for no credentials.
	Metrics net.Listener
	// Traces takes the spans of runs; nil for none.
	Traces *trace.Exporter
	// System tells the service manager how serve is; nil for none.
	System *System
	// Hide takes secrets out of what is said without the log.
	Hide func(string) string
	Log  *slog.Logger
}

// Project is one project to keep going.
type Project struct {
	// Name is unique, and the project's in addresses.
	Name   string
	Opener *app.Opener
	// Open opens the project for what obeys its configuration.
	Open func(context.Context) (*app.App, error)
}

// Server has the projects.
type Server struct {
	Config
	projects []*project
	// woken: something may be ready to begin.
	woken chan struct{}
	// opening has one project opened at a time: each needs memory for a moment.
	opening sync.Mutex
	// untried counts the projects that weren't opened yet.
	untried sync.WaitGroup
}

// Take takes the projects, so that no other serve has them until Release. Answering is still to be configured.
func Take(ctx context.Context, c Config) (*Server, error) {
	s := &Server{Config: c, woken: make(chan struct{}, 1)}
	for _, known := range c.Projects {
		p := &project{Server: s, Project: known, traced: make(chan workflow.RunRef, 1000), tried: make(chan struct{})}
		s.projects = append(s.projects, p)
		if err := p.take(ctx); err != nil {
			return nil, errors.Join(err, s.Release(ctx))
		}
	}
	return s, nil
}

// Release gives the projects back.
func (s *Server) Release(ctx context.Context) (err error) {
	for _, p := range s.projects {
		if p.lock != nil {
			err = errors.Join(err, notify.SetPages(ctx, p.store, ""), p.lock.Release(), p.store.Close())
		}
	}
	return err
}

// Keep keeps the projects going until ctx ends.
func (s *Server) Keep(ctx context.Context) {
	defer s.listen(ctx)()
	var group sync.WaitGroup
	s.untried.Add(len(s.projects))
	for _, p := range s.projects {
		group.Go(func() { p.keep(ctx) })
	}
	tried := make(chan struct{})
	go func() {
		s.untried.Wait()
		close(tried)
	}()
	s.dispatch(ctx, tried)
	s.System.Tell("STOPPING=1")
	s.Log.Info("stopping; runs go on")
	group.Wait()
}

// settles is how long after the start pages may still read the projects, too.
const settles = 3 * time.Second

// dispatch begins what is ready, and tells the service manager that it can.
func (s *Server) dispatch(ctx context.Context, tried <-chan struct{}) {
	alive := s.System.Watchdog()
	var begun sync.WaitGroup
	defer begun.Wait()
	for ctx.Err() == nil {
		select {
		case <-s.woken:
			for p, id := s.next(); p != nil; p, id = s.next() {
				begun.Go(func() { p.begin(ctx, id) })
			}
		case <-tried:
			s.Log.Info("ready", "projects", len(s.projects), "address", s.Address)
			s.System.Tell("READY=1")
			time.AfterFunc(settles, debug.FreeOSMemory) // that of reading all projects: most are idle from now on
			tried = nil
		case <-alive:
			s.System.Tell("WATCHDOG=1\nSTATUS=" + s.sum())
		case <-ctx.Done():
		}
	}
}

func (s *Server) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// next takes what is to begin now: of the project with the fewest runs at work, or of the one that waited longest.
func (s *Server) next() (best *project, id string) {
	all, fewest := 0, 0
	for _, p := range s.projects {
		working, slots, ready := p.standing()
		all += working
		if len(ready) == 0 || working >= slots {
			continue
		}
		if best == nil || working < fewest || working == fewest && p.turn.Before(best.turn) {
			best, fewest, id = p, working, ready[0]
		}
	}
	if best == nil || s.AtOnce > 0 && all >= s.AtOnce {
		return nil, ""
	}
	best.starting(id)
	return best, id
}

// take takes the project's lock. It is an error if another serve has it; if there is another obstacle, keep reports it.
func (p *project) take(ctx context.Context) error {
	if p.lock != nil {
		return nil
	}
	s, err := p.Opener.OpenStore(ctx)
	if err != nil {
		return nil
	}
	lock, err := s.LockOnly(ctx, "serving", "signalbox serve")
	if held := (*store.HeldError)(nil); errors.As(err, &held) {
		return errors.Join(&problem.Error{Code: problem.Held, Err: fmt.Errorf("another process serves the project in %s: %s", p.Opener.Dir, app.Holder(held.Holder)),
			Hint: "it goes on there; to see its page: signalbox serve --open; to serve it here, stop that one first"}, s.Close())
	}
	if err != nil {
		return errors.Join(err, s.Close())
	}
	p.store, p.lock = s, lock
	return p.remember(ctx)
}

func (p *project) pages() string {
	if p.Address == "" {
		return ""
	}
	return p.Address + "/p/" + p.Name
}

// first says since when the project is served: what happened before is no news.
type first struct {
	Since time.Time `json:"since"`
}

func (p *project) remember(ctx context.Context) error {
	return store.Record[first](p.store, "serve", "since").Update(ctx, func(f *first) error {
		if f.Since.IsZero() {
			f.Since = p.Opener.Now().UTC()
		}
		p.since = f.Since
		return nil
	})
}
