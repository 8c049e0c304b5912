// Package sandbox runs one command through bubblewrap. It decides which of this machine's files the command sees, which user it
// is, which system calls it may make, and which part of the network it reaches. It doesn't know environments: the caller names
// the folders.
package sandbox

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"

	"signalbox/internal/environment/clone/overlay"
	"signalbox/internal/environment/egress"
	"signalbox/internal/process"
)

// The paths of a command's work folder and HOME. They are the same in every environment, so that the absolute paths which
// setup commands leave behind (the first line of a script in .venv/bin, caches keyed by folder) are valid in the next one too.
const (
	Workspace = "/workspace"
	Home      = "/home/signalbox"
)

// DefaultPath is the PATH of commands if none is configured.
const DefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// ErrNotBuilt: bubblewrap could not build the sandbox, so the program was not started.
var ErrNotBuilt = errors.New("the sandbox cannot be built")

// Config configures the sandboxes of one project. Exec, Root, State and Path have no default.
type Config struct {
	// Exec runs programs on this machine.
	Exec process.Executor
	// Root is the project and State the private folder of environments. A command sees neither, unless a part is mounted.
	Root, State string
	// Path is the commands' PATH. They see its folders, too.
	Path string
	// Bubblewrap is the path of bwrap; empty means that PATH is searched.
	Bubblewrap string
	// UserNamespaces lets commands make user namespaces.
	UserNamespaces bool
	// Limits hold for each command and all it starts.
	Limits process.Limits
	// Network is the network access of most commands: egress.Full (also when empty), egress.Registries (the hosts of Egress) or
	// egress.None.
	Network string
	Egress  egress.Policy
	// Proxy and Roots are this machine's own proxy and certificates: see egress.Config.
	Proxy func(*url.URL) (*url.URL, error)
	Roots func() *x509.CertPool
	// Logger logs the refused hosts; nil discards.
	Logger *slog.Logger
	// NoNetworks: act as without the right to make network namespaces; NoNamespaces: nor user namespaces. Tests set them.
	NoNetworks, NoNamespaces bool
}

// Sandbox builds the sandboxes of one project.
type Sandbox struct {
	config Config
	// proxy lets commands out under the policy, closed only to the addresses that a command must reach.
	proxy, closed *egress.Proxy
	// secrets finds them once.
	secrets func() Mounts
	// idle are networks for commands without a namespace; refused: none can be made.
	networks sync.Mutex
	idle     []*overlay.Namespace
	refused  bool
}

// New returns the sandboxes of a project. It touches nothing before the first command.
func New(c Config) *Sandbox {
	return &Sandbox{config: c, secrets: sync.OnceValue(findSecrets), closed: egress.New(egress.Config{Logger: c.Logger}),
		proxy: egress.New(egress.Config{Policy: c.Egress, Proxy: c.Proxy, Roots: c.Roots, Logger: c.Logger})}
}

// Tag marks every sandbox of the project, whatever runs in it.
func (s *Sandbox) Tag() string { return MarkOf("SIGNALBOX_PROJECT_MARK", s.config.Root) }

// LastOfEach drops assignments that a later one replaces.
func LastOfEach(list []string) (kept []string) {
	seen := map[string]bool{}
	for _, entry := range slices.Backward(list) {
		name, _, _ := strings.Cut(entry, "=")
		if !seen[name] {
			seen[name] = true
			kept = append(kept, entry)
		}
	}
	slices.Reverse(kept)
	return kept
}

// MarkOf returns a variable that identifies a folder of this machine without naming it: a command has no use for its path.
func MarkOf(name, dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return name + "=" + hex.EncodeToString(sum[:16])
}
