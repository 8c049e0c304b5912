// Package clone owns environments that are a git clone of their own, which commands see through bubblewrap. It refuses to let
// anything in the clone reach the project's repository: Make copies objects in, and they come back only through a checked fetch
// from a private repository that the clone never sees. Once Make has returned a clone, the host runs no git in it.
//
// The caller orders the calls for one environment, except Exec and Read, which may run beside each other.
package clone

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"signalbox/internal/environment"
	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/overlay"
	"signalbox/internal/environment/clone/plumbing"
	"signalbox/internal/environment/clone/sandbox"
	"signalbox/internal/environment/clone/submodule"
	"signalbox/internal/environment/egress"
	"signalbox/internal/git"
	"signalbox/internal/lazy"
	"signalbox/internal/process"
)

// Config configures a driver. Repo, Exec, Root and State have no default.
type Config struct {
	// Repo is the project's own, trusted repository.
	Repo *git.Repo
	// Exec runs programs on this machine.
	Exec process.Executor
	// Root is the project root, an absolute path; clones are made in its folder .worktrees.
	Root string
	// State is Signalbox's private folder for environments. Commands see nothing of it but their HOME.
	State string
	// Unsandboxed runs commands on this machine without a sandbox: a person trusts all of them.
	Unsandboxed bool
	// UserNamespaces lets sandboxed commands make user namespaces, which a sandbox of their own needs.
	UserNamespaces bool
	// Bubblewrap is the path of bwrap; empty means that PATH is searched.
	Bubblewrap string
	// ReadOnly are further host paths that every command may read.
	ReadOnly []string
	// Variables are the only variables (KEY=value) of this machine that commands get. Commands also see the folders of the
	// PATH among them, or of DefaultPath.
	Variables []string
	// Network is the network access of sandboxed commands: egress.Full (also when empty), egress.Registries (the hosts of
	// Egress) or egress.None.
	Network string
	Egress  egress.Policy
	// FetchNetwork is the network access of a fetch of a submodule; empty means Network.
	FetchNetwork string
	// WithoutSubmodules leaves the folders of submodules empty.
	WithoutSubmodules bool
	// Proxy and Roots are this machine's own proxy and certificates: see egress.Config.
	Proxy func(*url.URL) (*url.URL, error)
	Roots func() *x509.CertPool
	// Limits hold for each command and all its children, with and without a sandbox.
	Limits process.Limits
	// Logger logs the refused hosts; nil discards.
	Logger *slog.Logger
	// Clock dates recorded commits; nil means the system's clock.
	Clock func() time.Time
	// Cache is the disk space, in bytes, for snapshots that later environments start from; the least recently used are
	// deleted first. Zero keeps none.
	Cache int64
	// Warm is the way an environment starts from a snapshot; empty means Auto.
	Warm Way
	// OnHost: commands don't run through Exec, and must find their folders on this machine.
	OnHost bool
	// Identity is the author of recorded commits; zero means git's user, or DefaultIdentity if git has none. Sign says which
	// commits are signed; empty means none.
	Identity git.Identity
	Sign     git.Signing

	noNetworks, noNamespaces bool // see sandbox.Config
}

// DefaultIdentity is the author of recorded commits if git has no user.
var DefaultIdentity = git.Identity{Name: "Signalbox", Email: "signalbox@localhost"}

// DefaultPath is the PATH of commands unless Config.Variables has one.
const DefaultPath = sandbox.DefaultPath

var (
	// ErrSandbox: bubblewrap could not build the sandbox, so the program was not started.
	ErrSandbox = sandbox.ErrNotBuilt
	// ErrOccupied: there is a work folder, but Signalbox didn't make it.
	ErrOccupied = overlay.ErrOccupied
)

// Driver implements environment.Driver.
type Driver struct {
	config     Config
	path       string // PATH for commands and for our own programs
	sandbox    *sandbox.Sandbox
	git        plumbing.Git
	submodules *submodule.Store
	snapshots  *cache.Cache
	// shown: commands run by other means than Exec.
	shown atomic.Bool
	// overlays is the way to mount overlays here, or Copy, once tryOnce has tried it.
	tryOnce  sync.Once
	overlays Way
	// held are the namespaces of environments, by their private folders.
	holding sync.Mutex
	held    map[string]*overlay.Namespace
}

var _ environment.Driver = (*Driver)(nil)

// New returns a driver. It touches nothing before Check or Make.
func New(c Config) *Driver {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	c.Sign = cmp.Or(c.Sign, git.SignNever)
	c.Root, c.State = filepath.Clean(c.Root), filepath.Clean(c.State)
	d := &Driver{config: c, path: DefaultPath, held: map[string]*overlay.Namespace{}}
	for _, variable := range c.Variables {
		if path, ok := strings.CutPrefix(variable, "PATH="); ok {
			d.path = path
		}
	}
	d.sandbox = sandbox.New(sandbox.Config{Exec: c.Exec, Root: c.Root, State: c.State, Path: d.path, Bubblewrap: c.Bubblewrap,
		UserNamespaces: c.UserNamespaces, Limits: c.Limits, Network: c.Network, Egress: c.Egress, Proxy: c.Proxy, Roots: c.Roots,
		Logger: c.Logger, NoNetworks: c.noNetworks, NoNamespaces: c.noNamespaces})
	d.git = plumbing.Git{Exec: c.Exec, Path: d.path}
	fetched := submodule.Config{Repo: c.Repo, Git: d.git, State: c.State, Sandbox: d.sandbox, ReadOnly: c.ReadOnly, Variables: c.Variables,
		Network: cmp.Or(c.FetchNetwork, c.Network), Egress: c.Egress}
	if c.Unsandboxed {
		fetched.Sandbox = nil
	}
	d.submodules = &submodule.Store{Config: fetched}
	d.snapshots = &cache.Cache{Dir: filepath.Join(c.State, cacheFolder), Clock: c.Clock, Version: snapshotVersion, Remove: folder.Remove}
	return d
}

// Name implements environment.Driver.
func (d *Driver) Name() string { return "clone" }

var (
	idPattern  = lazy.Pattern(`^[a-z0-9][a-z0-9-]{0,63}$`)
	dirPattern = lazy.Pattern(`^\.worktrees/issue-[0-9]+-[a-z0-9-]{1,40}$`)
)

// Validate refuses a specification that contains another path or an option of git. Make and Remove call it, too.
func Validate(s environment.Spec) error {
	switch {
	case !idPattern().MatchString(s.ID) || s.ID == cacheFolder:
		return fmt.Errorf("environment id %q: want %s", s.ID, idPattern())
	case !dirPattern().MatchString(s.Dir):
		return fmt.Errorf("environment folder %q: want %s", s.Dir, dirPattern())
	case !git.ValidID(s.Commit):
		return fmt.Errorf("environment commit %q: want a full object id", s.Commit)
	case !git.ValidBranch(s.Branch):
		return fmt.Errorf("environment branch %q: want signalbox/<number>-<slug>", s.Branch)
	}
	return nil
}
