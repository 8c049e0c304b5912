package clone

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"signalbox/internal/process"
)

// Try runs a command as those of environments are run, but for a work folder, a HOME and a temporary
// folder that are empty and of which nothing is kept, and without any network. It is for what has to be
// known before there is an environment.
func (d *Driver) Try(ctx context.Context, c process.Command) (process.Result, error) {
	m, err := d.base()
	if err != nil {
		return process.Result{}, err
	}
	for _, path := range []string{workspace, homeInside, "/tmp"} {
		m[path] = mount{kind: empty}
	}
	if err := errors.Join(d.request(m, readOnly, d.config.ReadOnly), d.request(m, readOnly, c.Reads)); err != nil {
		return process.Result{}, fmt.Errorf("try %q: %w", c.Args, err)
	}
	d.follow(m)
	c.Env = lastOfEach(slices.Concat(d.config.Variables, []string{"PATH=" + d.path, "HOME=" + homeInside, "TMPDIR=/tmp"}, c.Env))
	return d.sandboxed(ctx, view{mounts: m}, workspace, c, noNetwork)
}
