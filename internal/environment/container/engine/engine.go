// Package engine defines the messages between Signalbox and a container engine: orders as data, each answered by a separate program. It does not
// know Docker. Docker's client initializes a lot before main that no other command needs, so only that program contains it.
package engine

import (
	"errors"
	"fmt"

	"signalbox/internal/environment"
)

var (
	// ErrNotFound: the container or image does not exist.
	ErrNotFound = errors.New("not found")
	// ErrConflict: the name is taken.
	ErrConflict = errors.New("exists already")
	// ErrNoDaemon: the engine's daemon can't be reached.
	ErrNoDaemon = fmt.Errorf("%w: the Docker daemon is not reached", environment.ErrNoContainer)
)

// Spec describes a container.
type Spec struct {
	Name   string            `json:"name"`
	Image  string            `json:"image"`
	Labels map[string]string `json:"labels"`
	// Program is the container's first process, with its arguments.
	Program []string `json:"program"`
	User    string   `json:"user"`
	Mounts  []Mount  `json:"mounts"`
	// Network is "bridge" or "none".
	Network string `json:"network"`
	// Capabilities are kept, and all others dropped: "CHOWN".
	Capabilities []string `json:"capabilities,omitempty"`
	// Memory in bytes, CPUs and Processes limit the container; zero means no limit.
	Memory    int64   `json:"memory,omitempty"`
	CPUs      float64 `json:"cpus,omitempty"`
	Processes int64   `json:"processes,omitempty"`
}

// Mount shows a host path inside.
type Mount struct {
	Source   string `json:"source"`
	Target   string `json:"target"`
	ReadOnly bool   `json:"read_only"`
}

// Container is an existing container.
type Container struct {
	ID      string            `json:"id"`
	Image   string            `json:"image"` // its id
	Labels  map[string]string `json:"labels"`
	Running bool              `json:"running"`
	// First is the first process's id on this machine; zero if the container isn't running.
	First int `json:"first"`
	// Going: it is being removed, and can't be started any more.
	Going bool `json:"going"`
	// Ended says how it ended, if it isn't running.
	Ended string `json:"ended"`
}

// Image is an existing image.
type Image struct {
	ID     string            `json:"id"`
	Names  []string          `json:"names"`
	Labels map[string]string `json:"labels"`
	// Env is what the image sets for every program in it, as KEY=value.
	Env []string `json:"env"`
}

// Build describes an image to be built.
type Build struct {
	// Context is a tar file on this machine, and Dockerfile the path in it.
	Context    string            `json:"context"`
	Dockerfile string            `json:"dockerfile"`
	Name       string            `json:"name"`
	Labels     map[string]string `json:"labels"`
	Network    string            `json:"network"`
}

// Version is the daemon's version.
type Version struct {
	Server string `json:"server"`
	API    string `json:"api"`
}
