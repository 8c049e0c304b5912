// Package clone owns environments that are a git clone of their own, shown to
// commands through bubblewrap. It refuses to let anything in the clone reach
// the project's repository: objects are copied in when it is made, and come
// back only through a checked fetch from a private repository that the clone
// never sees. Once Make returned a clone, the host runs no git in it.
//
// Calls for one environment are put in order by the caller, except Exec and
// Read, which may run beside each other.
package clone

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
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

// Config is what a driver needs. Repo, Exec, Root and State have no default.
type Config struct {
	// Repo is the project's own, trusted repository.
	Repo *git.Repo
	// Exec runs programs on this machine.
	Exec process.Executor
	// Root is the project root, an absolute path; clones are made in its folder .worktrees.
	Root string
	// State is Signalbox's private folder for environments. Commands see nothing of it but their HOME.
	State string
	// Unsandboxed runs commands plainly on this machine: a person trusts whatever they run.
	Unsandboxed bool
	// UserNamespaces lets sandboxed commands make user namespaces: a sandbox of their own needs one.
	UserNamespaces bool
	// Bubblewrap is the path of bwrap; empty means that PATH is searched.
	Bubblewrap string
	// ReadOnly are further host paths that every command may read.
	ReadOnly []string
	// Variables are the only variables (KEY=value) of this machine that commands get. A PATH
	// among them also says which folders they see; without one it is DefaultPath.
	Variables []string
	// Network is what sandboxed commands reach: egress.Full (also when empty), egress.Registries,
	// which is the hosts of Egress, or egress.None.
	Network string
	Egress  egress.Policy
	// FetchNetwork is what a fetch of a submodule reaches, in the words of Network; empty means Network.
	FetchNetwork string
	// WithoutSubmodules leaves the folders of submodules empty.
	WithoutSubmodules bool
	// Proxy and Roots are this machine's own way out: see egress.Config.
	Proxy func(*url.URL) (*url.URL, error)
	Roots *x509.CertPool
	// Limits hold for each command and all it starts, with and without a sandbox.
	Limits process.Limits
	// Logger is told of hosts that were refused; nil discards.
	Logger *slog.Logger
	// Clock tells the date of recorded commits; nil means the system's.
	Clock func() time.Time
	// Cache is how much disk, in bytes, bases may take that are kept for later environments; the
	// least recently used go first. Zero keeps none.
	Cache int64
	// Warm is how an environment is put on a base; empty means Auto.
	Warm Way
	// OnHost: somebody else than Exec runs commands, and must find their folders on this machine.
	OnHost bool
	// Identity is the author of recorded commits; zero means the user as git knows them, or
	// DefaultIdentity where it does not. Sign says which commits are signed; empty means none.
	Identity git.Identity
	Sign     git.Signing

	noNetworks, noNamespaces bool // see sandbox.Config
}

// DefaultIdentity is the author of recorded commits where git knows no user.
var DefaultIdentity = git.Identity{Name: "Signalbox", Email: "signalbox@localhost"}

// DefaultPath is where programs are looked for unless Config.Variables has a PATH.
const DefaultPath = sandbox.DefaultPath

var (
	// ErrSandbox: bubblewrap could not build the sandbox, so the program was not started.
	ErrSandbox = sandbox.ErrNotBuilt
	// ErrOccupied: the work folder is there but was not made by Signalbox.
	ErrOccupied = overlay.ErrOccupied
)

// Driver implements environment.Driver.
type Driver struct {
	config     Config
	path       string // PATH for commands and for our own programs
	sandbox    *sandbox.Sandbox
	git        plumbing.Git
	submodules *submodule.Store
	bases      *cache.Cache
	// shown: who runs commands does it by other means than Exec.
	shown atomic.Bool
	// overlays is how overlays can be mounted here, or Copy, once it was tried.
	tryOnce  sync.Once
	overlays Way
	// held are the namespaces of environments, by their private folders.
	holding sync.Mutex
	held    map[string]*overlay.Namespace
}

var _ environment.Driver = (*Driver)(nil)

// New returns a driver. Nothing is touched before Check or Make.
func New(c Config) *Driver {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	c.Sign = cmp.Or(c.Sign, git.SignNever)
	c.Root, c.State = filepath.Clean(c.Root), filepath.Clean(c.State)
	d := &Driver{config: c, path: sandbox.Value(c.Variables, "PATH", DefaultPath), held: map[string]*overlay.Namespace{}}
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
	d.bases = cache.New(cache.Config{Dir: filepath.Join(c.State, cacheFolder), Clock: c.Clock, Remove: folder.Remove})
	return d
}

// Name implements environment.Driver.
func (d *Driver) Name() string { return "clone" }

var (
	idPattern  = lazy.Pattern(`^[a-z0-9][a-z0-9-]{0,63}$`)
	dirPattern = lazy.Pattern(`^\.worktrees/issue-[0-9]+-[a-z0-9-]{1,40}$`)
)

// Validate refuses a specification whose words could be paths or options of somebody's choice, as Make and Remove do.
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
