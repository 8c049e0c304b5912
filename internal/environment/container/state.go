package container

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"signalbox/internal/environment"
	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/container/engine"
)

// state is what an environment's container is made from. It is in the environment's private folder, and is
// deleted with it.
type state struct {
	// Reference is the image's name as it was asked for, Base the id that it had then. A name that later
	// means another image doesn't change an existing environment.
	Reference string `json:"reference"`
	Base      string `json:"base"`
	// Image is what the container starts from: Base, a kept image, or its own saved state.
	Image string `json:"image"`
	// Env is what the image sets for every program, as KEY=value.
	Env []string `json:"env,omitempty"`
	// Shown are the host paths that commands asked for.
	Shown []engine.Mount `json:"shown,omitempty"`
}

// opened returns an environment whose work folder exists, with its saved state.
func (d *Driver) opened(made environment.Environment, id string) (*Environment, error) {
	cloned, private := made.(*clone.Environment), filepath.Join(d.config.Clone.State, id)
	e := &Environment{work: cloned, driver: d, clone: cloned, id: id,
		runFolder: filepath.Join(private, "run"), egressFolder: filepath.Join(private, "egress"), stateFile: filepath.Join(private, "container.json")}
	data, err := os.ReadFile(e.stateFile)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what the container is made from: %w", err)
	}
	if err := json.Unmarshal(data, &e.state); err != nil {
		return nil, fmt.Errorf("parse %s: %w", e.stateFile, err)
	}
	return e, nil
}

// save replaces the file in one step.
func (e *Environment) save() error {
	data, err := json.MarshalIndent(e.state, "", "  ")
	if err != nil {
		return fmt.Errorf("encode what the container is made from: %w", err)
	}
	if err := cache.ReplaceFile(e.stateFile, data); err != nil {
		return fmt.Errorf("write what the container is made from: %w", err)
	}
	return nil
}
