package clone

import (
	"context"
	"os"
	"strconv"
	"strings"
)

// Lend makes the driver do as if it had no right to make network namespaces.
func (c *Config) Lend() { c.noNetworks = true }

// Enter is Lend without the right to make user namespaces.
func (c *Config) Enter() { c.noNetworks, c.noNamespaces = true, true }

// Mark is what every process of the environment in dir has among its variables.
func Mark(dir string) string { return layout{work: dir}.tag() }

// Folder is the work folder as every process of this machine may find it.
func (e *Environment) Folder(ctx context.Context) (string, error) {
	n, err := e.namespace(ctx)
	return strings.Replace(n.Path(e.layout.work), "/proc/self/", "/proc/"+strconv.Itoa(os.Getpid())+"/", 1), err
}

// Die lets go of all mounts as the end of this process would.
func (d *Driver) Die() {
	d.holding.Lock()
	defer d.holding.Unlock()
	for _, n := range d.held {
		n.Close()
	}
	clear(d.held)
}
