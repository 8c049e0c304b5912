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

// state is what an environment's container is made from. It is kept beside the environment's
// other private files and goes with them.
type state struct {
	// Reference is the image as it was asked for, Base the id that it had then. A reference that
	// moves on does not change an environment that is there.
	Reference string `json:"reference"`
	Base      string `json:"base"`
	// Image is what the container starts from: Base, one that was kept, or its own saved state.
	Image string `json:"image"`
	// Env is what the image sets for every program, as KEY=value.
	Env []string `json:"env,omitempty"`
	// Shown are the host paths that commands asked for.
	Shown []engine.Mount `json:"shown,omitempty"`
}

func (e *Environment) private() string {
	return filepath.Join(e.driver.config.Clone.State, e.id)
}

// runFolder holds the exec server's socket.
func (e *Environment) runFolder() string { return filepath.Join(e.private(), "run") }

func (e *Environment) stateFile() string { return filepath.Join(e.private(), "container.json") }

// opened returns an environment whose work folder exists, with what its container is made from.
func (d *Driver) opened(made environment.Environment, id string) (*Environment, error) {
	e := &Environment{driver: d, clone: made.(*clone.Environment), id: id}
	data, err := os.ReadFile(e.stateFile())
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what the container is made from: %w", err)
	}
	if err := json.Unmarshal(data, &e.state); err != nil {
		return nil, fmt.Errorf("parse %s: %w", e.stateFile(), err)
	}
	return e, nil
}

// save replaces the file in one step.
func (e *Environment) save() error {
	data, err := json.MarshalIndent(e.state, "", "  ")
	if err != nil {
		return fmt.Errorf("encode what the container is made from: %w", err)
	}
	if err := cache.ReplaceFile(e.stateFile(), data); err != nil {
		return fmt.Errorf("write what the container is made from: %w", err)
	}
	return nil
}
