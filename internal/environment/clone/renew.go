package clone

import (
	"context"
	"fmt"
	"os"
)

// Renew implements environment.Environment by building the clone anew.
func (e *Environment) Renew(ctx context.Context, commit, _ string) (warm bool, err error) {
	m, err := e.marker()
	if err != nil {
		return false, err
	}
	m.Head = commit
	if err := removeTree(e.layout.home()); err != nil {
		return false, fmt.Errorf("empty HOME: %w", err)
	}
	if err := os.MkdirAll(e.layout.home(), 0o700); err != nil {
		return false, fmt.Errorf("empty HOME: %w", err)
	}
	return false, e.rebuild(ctx, m)
}

// Keep implements environment.Environment. Nothing is kept yet.
func (e *Environment) Keep(context.Context, string) error { return nil }

// Forget implements environment.Environment.
func (e *Environment) Forget(context.Context, string) error { return nil }
