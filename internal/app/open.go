// Package app owns what a person can ask of a project, whatever the front end: typed requests, typed results, and errors that say
// what may be done next. It refuses to print, to know a flag, and to name a driver.
package app

import (
	"context"
	"errors"
	"time"

	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// App is an opened project and what a person can ask of it.
type App struct {
	*wire.Project
}

// Opener says who opens a project, and how.
type Opener = wire.Opener

// Open opens the project around o's folder.
func Open(ctx context.Context, o *Opener) (*App, error) {
	p, err := o.Open(ctx)
	return &App{p}, wire.Explained(err)
}

// Trusted returns the project with its whole configuration. Where that needs the user's agreement they are asked; the project
// is then opened anew, with what the files say at that moment.
func (p *App) Trusted(ctx context.Context) (*App, error) {
	if p.Trust.Standing != wire.TrustWithheld || p.WithoutAgents {
		p.Obeys = true
		return p, nil
	}
	err := p.askTrust(ctx)
	if err = errors.Join(err, p.Store.Close()); err != nil {
		return nil, err
	}
	again, err := Open(ctx, p.Opener)
	if err == nil && again.Trust.Standing == wire.TrustWithheld {
		err = errors.Join(again.Untrusted(), again.Store.Close())
	}
	p.Obeys = err == nil
	return again, err
}

// askTrust asks the user, if the front end can.
func (p *App) askTrust(ctx context.Context) error {
	if p.AskTrust == nil {
		return p.Untrusted()
	}
	return p.AskTrust(ctx, p.Project)
}

// Watcher is told once which application carries runs, and returns what is told of every transition.
type Watcher func(*App) func(workflow.Run)

func now() time.Time { return time.Now() }
