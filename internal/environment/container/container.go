// Package container owns environments whose commands run in a Docker container: one container per environment,
// made from an image, without privileges, and with nothing of this machine but the work folder and HOME. The
// clone driver, which it wraps, keeps the work folder. It does not trust the inside, and never shows it
// Docker's socket.
//
// The caller serializes calls for one environment, except Exec and Read, which may run concurrently.
package container

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"time"

	"signalbox/internal/environment"
	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/container/engine"
	"signalbox/internal/environment/egress"
	"signalbox/internal/process"
)

// Config configures a driver. Clone, Program and Docker have no default.
type Config struct {
	// Clone is the clone driver's configuration: that driver makes the work folder and records the work.
	Clone clone.Config
	// Variables are the only variables (KEY=value) of this machine that commands get, besides the image's. A
	// PATH among them replaces the image's.
	Variables []string
	// ReadOnly are host paths that every command may read, at the same path.
	ReadOnly []string
	// Image is the image of specifications without one.
	Image string
	// Dockerfile, a path in the project, is built instead of any image, with its folder as context.
	Dockerfile string
	// Network is the network access of commands: egress.Full, egress.Registries (the hosts of Egress), or
	// egress.None (also if empty).
	Network string
	Egress  egress.Policy
	// Proxy and Roots configure this machine's own way out: see egress.Config.
	Proxy func(*url.URL) (*url.URL, error)
	Roots func() *x509.CertPool
	// Limits apply to all commands of one environment together.
	Limits process.Limits
	// Capabilities are kept inside, and all others dropped: "CHOWN". Installing system packages needs CHOWN,
	// DAC_OVERRIDE, FOWNER, FSETID, SETGID and SETUID.
	Capabilities []string
	// Program is signalbox itself, statically linked: it is the exec server in every image.
	Program string
	// Docker is the path of signalbox-docker; DockerEnv are its variables.
	Docker    string
	DockerEnv []string
	// Logger records each container that had to be made again; nil discards.
	Logger *slog.Logger
	// Clock gives the start times of commands; nil means the system's.
	Clock func() time.Time
}

var (
	// ErrNoImage: the image is not on this machine, or no image is named.
	ErrNoImage = fmt.Errorf("%w: there is no image for it", environment.ErrNoContainer)
	// ErrCannotStart: the container can't be created or started, or its server does not start.
	ErrCannotStart = fmt.Errorf("%w: the container cannot start", environment.ErrNoContainer)
)

// version is the version of this driver's saved images. Those of another version are ignored.
const version = "1"

// folders is what the clone driver does unchanged. List returns the snapshots for later environments, most
// recently used first; their sizes are those of the work folders, because images share most of their content.
type folders interface {
	List(ctx context.Context) ([]cache.Entry, error)
	CheckSubmodules(ctx context.Context, commit string) error
}

// Driver implements environment.Driver.
type Driver struct {
	folders
	config Config
	clone  *clone.Driver
	engine engine.Engine
	proxy  *egress.Proxy
	// The names of what the driver makes for the project: containers is how those of containers begin, and
	// repository is that of all images.
	containers, repository string
}

var _ environment.Driver = (*Driver)(nil)

// New returns a driver. It creates nothing before Check or Make.
func New(c Config) *Driver {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	c.Clone.Root, c.Clone.State = filepath.Clean(c.Clone.Root), filepath.Clean(c.Clone.State)
	// Docker mounts the folders.
	c.Clone.OnHost = true
	c.Clone.Network, c.Clone.Limits = egress.None, process.Limits{} // only git runs there
	c.Clone.FetchNetwork = cmp.Or(c.Network, egress.None)
	if c.Clone.Warm == clone.Shared {
		c.Clone.Warm = clone.Auto // paths that only the clone driver's sandbox shows read-only are writable here
	}
	project := hash(c.Clone.Root)[:12]
	cloned := clone.New(c.Clone)
	return &Driver{
		folders: cloned, config: c, clone: cloned, containers: "signalbox-" + project + "-", repository: "signalbox/" + project,
		proxy:  egress.New(egress.Config{Policy: c.Egress, Proxy: c.Proxy, Roots: c.Roots, Logger: c.Logger}),
		engine: engine.Engine{Exec: c.Clone.Exec, Program: c.Docker, Env: c.DockerEnv},
	}
}

// Name implements environment.Driver.
func (d *Driver) Name() string { return "container" }

// hint adds advice for a person to an error; nil stays nil.
func hint(err error) error {
	switch {
	case errors.Is(err, engine.ErrNoProgram):
		return fmt.Errorf("%w: install it (go install ./cmd/signalbox-docker), or set environment.driver: clone", err)
	case errors.Is(err, engine.ErrNoDaemon):
		return fmt.Errorf("%w: start it (systemctl start docker) and let your user reach its socket, or set environment.driver: clone", err)
	}
	return err
}
