package egress

import (
	"fmt"
	"io"
	"sync"
)

// Blocklist is what one command was refused.
type Blocklist struct {
	mu    sync.Mutex
	hosts []string
}

// maxBlocked is how many hosts are named.
const maxBlocked = 20

// Add notes a host that was refused.
func (b *Blocklist) Add(host string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.hosts) < maxBlocked {
		b.hosts = append(b.hosts, host)
	}
}

// Tell writes the list to the command's standard error, if it has one.
func (b *Blocklist) Tell(stderr io.Writer) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, host := range b.hosts {
		if stderr == nil {
			return nil
		}
		if _, err := fmt.Fprintf(stderr, "signalbox: blocked: %s (environment.allow)\n", host); err != nil {
			return fmt.Errorf("tell what was blocked: %w", err)
		}
	}
	return nil
}
