package clone

import (
	"context"
	"os"
	"strconv"
	"strings"

	"signalbox/internal/environment/clone/sandbox"
)

// Lend makes the driver act as if it had no right to make network namespaces.
func (c *Config) Lend() { c.noNetworks = true }

// Enter is Lend without the right to make user namespaces.
func (c *Config) Enter() { c.noNetworks, c.noNamespaces = true, true }

// Mark returns the variable that every process of the environment in dir has.
func Mark(dir string) string { return sandbox.MarkOf(markName, dir) }

// Folder returns a path of the work folder that every process of this machine can use.
func (e *Environment) Folder(ctx context.Context) (string, error) {
	n, err := e.namespace(ctx)
	return strings.Replace(n.Path(e.layout.work), "/proc/self/", "/proc/"+strconv.Itoa(os.Getpid())+"/", 1), err
}

// Die closes all namespaces, as the end of this process would.
func (d *Driver) Die() {
	d.holding.Lock()
	defer d.holding.Unlock()
	for _, n := range d.held {
		n.Close()
	}
	clear(d.held)
}
