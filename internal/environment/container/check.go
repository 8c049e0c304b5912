package container

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"

	"signalbox/internal/environment/container/engine"
)

// errDynamic: the program needs a C library that an image may not have.
var errDynamic = errors.New("signalbox is not linked statically, so images cannot run it: build it with CGO_ENABLED=0")

// Check implements environment.Driver. It removes what killed runs left, and looks at the daemon, at the
// image that the project chose, and at what the clone driver needs.
func (d *Driver) Check(ctx context.Context) (note string, err error) {
	defer func() { err = hint(err) }()
	v, err := d.engine.Do(ctx, engine.Order{Op: engine.OpVersion})
	if err != nil {
		return "", err
	}
	program, err := elf.Open(d.config.Program)
	if err != nil {
		return "", fmt.Errorf("look at own program: %w", err)
	}
	defer func() { _ = program.Close() }()
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP { // it asks for a loader
			return "", fmt.Errorf("%s: %w", d.config.Program, errDynamic)
		}
	}
	if err := d.sweep(ctx); err != nil {
		return "", fmt.Errorf("remove what is left of environments: %w", err)
	}
	if d.config.Image != "" && d.config.Dockerfile == "" {
		if _, err := d.image(ctx, d.config.Image); err != nil {
			return "", fmt.Errorf("%w: %s: docker pull %s, or name another in environment.image: %w", ErrNoImage, d.config.Image, d.config.Image, err)
		}
	}
	note, err = d.clone.Check(ctx)
	if err != nil {
		return "", fmt.Errorf("keep work folders: %w", err)
	}
	said := "Docker " + v.Version.Server
	if note != "" {
		said += "; " + note
	}
	return said, nil
}
