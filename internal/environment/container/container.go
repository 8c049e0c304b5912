// Package container owns environments whose commands run in a container of
// Docker: one for each, made from an image, without privileges and without
// anything of this machine but the work folder and HOME. The work folder
// itself is kept by the clone driver, which it wraps. It refuses to trust the
// inside, and never shows it Docker's socket.
//
// Calls for one environment are put in order by the caller, except Exec and
// Read, which may run beside each other.
package container

import (
	"cmp"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"time"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/container/engine"
	"signalbox/internal/environment/egress"
	"signalbox/internal/process"
)

// Config is what a driver needs. Clone, Program and Docker have no default.
type Config struct {
	// Clone is the clone driver's: it makes the work folder and brings the work back.
	Clone clone.Config
	// Variables are the only variables (KEY=value) of this machine that commands get, beside those
	// that the image sets. A PATH among them replaces the image's.
	Variables []string
	// ReadOnly are host paths that every command may read, at the same path.
	ReadOnly []string
	// Image is for specifications that name none.
	Image string
	// Dockerfile, a path in the project, is built instead of any image, with its folder as context.
	Dockerfile string
	// Network is what commands reach: egress.Full, egress.Registries, which is the hosts of Egress,
	// or egress.None (also when empty).
	Network string
	Egress  egress.Policy
	// Proxy and Roots are this machine's own way out: see egress.Config.
	Proxy func(*url.URL) (*url.URL, error)
	Roots *x509.CertPool
	// Limits hold for all commands of one environment together.
	Limits process.Limits
	// Capabilities are kept inside, all others dropped: "CHOWN". Installing packages of the system
	// takes CHOWN, DAC_OVERRIDE, FOWNER, FSETID, SETGID and SETUID.
	Capabilities []string
	// Program is signalbox itself, linked statically: it is the exec server in every image.
	Program string
	// Docker is the path of signalbox-docker, DockerEnv its variables.
	Docker    string
	DockerEnv []string
	// Logger records each container that had to be made again; nil discards.
	Logger *slog.Logger
	// Clock tells when commands were started; nil means the system's.
	Clock func() time.Time
}

var (
	// ErrNoImage: the image is not on this machine, or none is named.
	ErrNoImage = fmt.Errorf("%w: there is no image for it", environment.ErrNoContainer)
	// ErrCannotStart: a container cannot be created or started, or its server does not come up.
	ErrCannotStart = fmt.Errorf("%w: the container cannot start", environment.ErrNoContainer)
)

// version is that of what this driver makes: with another one, what was kept does not count.
const version = "1"

// Driver implements environment.Driver.
type Driver struct {
	config  Config
	clone   *clone.Driver
	engine  engine.Engine
	proxy   *egress.Proxy
	project string // a short name of the project for names of containers and images
}

var _ environment.Driver = (*Driver)(nil)

// New returns a driver. Nothing is touched before Check or Make.
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
	c.Clone.Network, c.Clone.Limits = egress.None, process.Limits{} // git alone runs there
	c.Clone.FetchNetwork = cmp.Or(c.Network, egress.None)
	if c.Clone.Warm == clone.Shared {
		c.Clone.Warm = clone.Auto // what only its sandbox shows read-only is not read-only here
	}
	sum := sha256.Sum256([]byte(c.Clone.Root))
	return &Driver{
		config: c, clone: clone.New(c.Clone), project: hex.EncodeToString(sum[:6]),
		proxy:  egress.New(egress.Config{Policy: c.Egress, Proxy: c.Proxy, Roots: c.Roots, Logger: c.Logger}),
		engine: engine.Engine{Exec: c.Clone.Exec, Program: c.Docker, Env: c.DockerEnv},
	}
}

// Name implements environment.Driver.
func (d *Driver) Name() string { return "container" }

// repository returns the name of every image that the driver makes for the project.
func (d *Driver) repository() string { return "signalbox/" + d.project }

// withoutImage returns the specification of the work folder, which does not depend on the image.
func withoutImage(s environment.Spec) environment.Spec {
	s.Image = ""
	return s
}

// hint adds what a person can do.
func hint(err error) error {
	switch {
	case errors.Is(err, engine.ErrNoProgram):
		return fmt.Errorf("%w: install it (go install ./cmd/signalbox-docker), or set environment.driver: clone", err)
	case errors.Is(err, engine.ErrNoDaemon):
		return fmt.Errorf("%w: start it (systemctl start docker) and let your user reach its socket, or set environment.driver: clone", err)
	}
	return err
}
