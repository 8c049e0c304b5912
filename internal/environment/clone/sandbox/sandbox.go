// Package sandbox runs one command through bubblewrap: what it sees of this machine's files, who it is there, which system
// calls it may make, and what it reaches of the network. Whose command that is and where its folders come from the caller knows.
package sandbox

import (
	"crypto/x509"
	"errors"
	"log/slog"
	"net/url"
	"sync"

	"signalbox/internal/environment/clone/overlay"
	"signalbox/internal/environment/egress"
	"signalbox/internal/process"
)

// Where a command finds its work folder and its HOME. They are the same in every environment, so that the absolute paths which
// set-up commands leave behind (the first line of a script in .venv/bin, caches keyed by folder) hold in the next one too.
const (
	Workspace = "/workspace"
	Home      = "/home/signalbox"
)

// DefaultPath is where programs are looked for unless a PATH is given.
const DefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// ErrNotBuilt: bubblewrap could not build the sandbox, so the program was not started.
var ErrNotBuilt = errors.New("the sandbox cannot be built")

// Config is what sandboxes of one project need. Exec, Root, State and Path have no default.
type Config struct {
	// Exec runs programs on this machine.
	Exec process.Executor
	// Root is the project and State the private folder of environments: a command sees neither, unless it is shown a part.
	Root, State string
	// Path is the commands' PATH, which also says which folders they see.
	Path string
	// Bubblewrap is the path of bwrap; empty means that PATH is searched.
	Bubblewrap string
	// UserNamespaces lets commands make user namespaces.
	UserNamespaces bool
	// Limits hold for each command and all it starts.
	Limits process.Limits
	// Network is what commands reach: egress.Full (also when empty), egress.Registries, which is the hosts of Egress, or egress.None.
	Network string
	Egress  egress.Policy
	// Proxy and Roots are this machine's own way out: see egress.Config.
	Proxy func(*url.URL) (*url.URL, error)
	Roots *x509.CertPool
	// Logger is told of hosts that were refused; nil discards.
	Logger *slog.Logger
	// NoNetworks: we have no right to make network namespaces; NoNamespaces: nor to make user namespaces. Tests say so.
	NoNetworks, NoNamespaces bool
}

// Sandbox builds the sandboxes of one project.
type Sandbox struct {
	config Config
	// proxy is what leads out under the policy, closed what leads nowhere of itself.
	proxy, closed *egress.Proxy
	// secrets are looked for once.
	secrets func() (files, folders []string)
	// idle are networks for commands without a namespace; refused: none can be made.
	networks sync.Mutex
	idle     []*overlay.Namespace
	refused  bool
}

// New returns the sandboxes of a project. Nothing is touched before the first command.
func New(c Config) *Sandbox {
	return &Sandbox{config: c, secrets: sync.OnceValues(findSecrets), closed: egress.New(egress.Config{Logger: c.Logger}),
		proxy: egress.New(egress.Config{Policy: c.Egress, Proxy: c.Proxy, Roots: c.Roots, Logger: c.Logger})}
}

// Tag marks every sandbox of the project, whatever runs in it.
func (s *Sandbox) Tag() string { return MarkOf("SIGNALBOX_PROJECT_MARK", s.config.Root) }
