// Package engine owns the words in which Signalbox and a container engine speak:
// orders as data, answered by a program of its own that is run for each of them.
// It refuses to know Docker. Docker's client makes a thousand things before main
// that no other command needs, so it is linked into that program alone.
package engine

import (
	"errors"
	"fmt"

	"signalbox/internal/environment"
)

var (
	// ErrNotFound: there is no such container or image.
	ErrNotFound = errors.New("not found")
	// ErrConflict: there is one of that name already.
	ErrConflict = errors.New("exists already")
	// ErrNoDaemon: the engine's daemon is not reached.
	ErrNoDaemon = fmt.Errorf("%w: the Docker daemon is not reached", environment.ErrNoContainer)
)

// Spec is a container as it should be.
type Spec struct {
	Name   string            `json:"name"`
	Image  string            `json:"image"`
	Labels map[string]string `json:"labels"`
	// Program is what runs as its first process, with its arguments.
	Program []string `json:"program"`
	User    string   `json:"user"`
	Mounts  []Mount  `json:"mounts"`
	// Network is "bridge" or "none".
	Network string `json:"network"`
	// Capabilities are kept, all others dropped: "CHOWN".
	Capabilities []string `json:"capabilities,omitempty"`
	// Memory in bytes, CPUs and Processes limit the container; zero is no limit.
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

// Container is one that is there.
type Container struct {
	ID      string            `json:"id"`
	Image   string            `json:"image"` // id
	Labels  map[string]string `json:"labels"`
	Running bool              `json:"running"`
	// First is the first process's id on this machine; zero when it is not running.
	First int `json:"first"`
	// Going: it is being removed, and cannot be started any more.
	Going bool `json:"going"`
	// Ended says how it ended when it is not running.
	Ended string `json:"ended"`
}

// Image is one that is there.
type Image struct {
	ID     string            `json:"id"`
	Names  []string          `json:"names"`
	Labels map[string]string `json:"labels"`
	// Env is what the image gives every program in it, as KEY=value.
	Env []string `json:"env"`
}

// Build is an image to be built.
type Build struct {
	// Context is a tar file on this machine, Dockerfile the path in it.
	Context    string            `json:"context"`
	Dockerfile string            `json:"dockerfile"`
	Name       string            `json:"name"`
	Labels     map[string]string `json:"labels"`
	Network    string            `json:"network"`
}

// Version is the daemon's.
type Version struct {
	Server string `json:"server"`
	API    string `json:"api"`
}
