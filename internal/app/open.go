// Package app owns what a person can ask of a project, from any front end: typed requests, typed results, and errors that say
// what to do next. It prints nothing, knows no flag and names no driver.
package app

import (
	"context"
	"errors"

	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// App is an opened project and what a person can ask of it.
type App struct {
	*wire.Project
}

// Opener describes the user and the command that open a project.
type Opener = wire.Opener

// Open opens the project around o's folder.
func Open(ctx context.Context, o *Opener) (*App, error) {
	p, err := o.Open(ctx)
	return &App{p}, wire.Explained(err)
}

// Trusted returns the project with its whole configuration. If that needs the user's agreement, it asks them and opens the project
// again, since the files may have changed meanwhile.
func (p *App) Trusted(ctx context.Context) (*App, error) {
	if p.Trust.Standing != wire.TrustWithheld || p.WithoutAgents {
		p.Obeys = true
		return p, nil
	}
	err := p.Untrusted()
	if p.AskTrust != nil {
		err = p.AskTrust(ctx, p.Project)
	}
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

// Unready says why the project's requests can't be run as it is now: its configuration is broken, or reaches beyond the sandbox without
// the user's agreement. It is nil if nothing is in the way.
func (p *App) Unready() error {
	switch {
	case p.ConfigError != nil:
		return p.ConfigError
	case p.Trust.Standing == wire.TrustWithheld && !p.WithoutAgents:
		return p.Untrusted()
	}
	return nil
}

// Watcher is called once with the App that runs the runs, and returns the function that hears of every transition.
type Watcher func(*App) func(workflow.Run)
