package clone

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"signalbox/internal/environment/clone/sandbox"
	"signalbox/internal/process"
)

// Try runs a command as those of environments are run, but for a work folder, a HOME and a temporary
// folder that are empty and of which nothing is kept, and without any network. It is for what has to be
// known before there is an environment.
func (d *Driver) Try(ctx context.Context, c process.Command) (process.Result, error) {
	m, err := d.sandbox.Base()
	if err != nil {
		return process.Result{}, err
	}
	for _, path := range []string{sandbox.Workspace, sandbox.Home, "/tmp"} {
		m[path] = sandbox.Mount{Kind: sandbox.Empty}
	}
	if err := errors.Join(d.sandbox.Request(m, sandbox.ReadOnly, d.config.ReadOnly), d.sandbox.Request(m, sandbox.ReadOnly, c.Reads)); err != nil {
		return process.Result{}, fmt.Errorf("try %q: %w", c.Args, err)
	}
	d.sandbox.Follow(m)
	c.Env = sandbox.LastOfEach(slices.Concat(d.config.Variables, []string{"PATH=" + d.path, "HOME=" + sandbox.Home, "TMPDIR=/tmp"}, c.Env))
	return d.sandbox.Isolated(ctx, sandbox.View{Mounts: m}, sandbox.Workspace, c)
}
