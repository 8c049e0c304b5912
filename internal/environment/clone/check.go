package clone

import (
	"context"
	"fmt"
	"os"
	"strings"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/sandbox"
	"signalbox/internal/process"
)

// Check implements environment.Driver by running a program in a sandbox. First
// it ends what was in the middle of building one when its Signalbox was killed:
// until bubblewrap's first child follows its parent into death it waits for it for ever.
func (d *Driver) Check(ctx context.Context) (note string, err error) {
	if _, err := process.SweepOrphans(ctx, d.sandbox.Tag()); err != nil {
		return "", fmt.Errorf("end sandboxes that were cut off: %w", err)
	}
	if d.config.Unsandboxed {
		note := "commands run on this machine without isolation, as --unsandboxed asks"
		if limits := process.LimitsNote(d.config.Limits); limits != "" {
			note += "; " + limits
		}
		return note, nil
	}
	m, err := d.sandbox.Base()
	if err == nil {
		err = d.sandbox.Probe(ctx, sandbox.View{Mounts: m})
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", environment.ErrNoIsolation, err)
	}
	return strings.Join(d.sandbox.Notes(), "; "), nil
}

// newScratch makes the /tmp of one command. It is new each time because bwrap makes mount points
// below it (a project in /tmp, a file to read): in a folder that an earlier command wrote it
// could be led through a symbolic link.
func (l layout) newScratch() (dir string, remove func() error, err error) {
	if err := os.MkdirAll(l.scratch(), 0o700); err != nil {
		return "", nil, fmt.Errorf("make temporary folder: %w", err)
	}
	dir, err = os.MkdirTemp(l.scratch(), "")
	if err != nil {
		return "", nil, fmt.Errorf("make temporary folder: %w", err)
	}
	return dir, func() error { return folder.Remove(dir) }, nil
}
