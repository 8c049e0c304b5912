package gitcmd

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// scopePatience is how long the end of a scope waits for its git processes. They only read, so they
// usually end within milliseconds.
const scopePatience = 5 * time.Second

// scope holds the dialogs that began in a context.
type scope struct {
	mu      sync.Mutex
	over    bool
	running map[chan struct{}]func()
}

type scopeKey struct{}

// Scope returns a context, and a function that ends the dialogs of all repositories used in it. Without
// it, the kernel ends those processes an instant after the program.
func Scope(ctx context.Context) (context.Context, func()) {
	s := &scope{running: map[chan struct{}]func(){}}
	return context.WithValue(ctx, scopeKey{}, s), s.end
}

// enter registers the function that ends a new dialog, and returns one to call when it has ended.
func enter(ctx context.Context, end func()) (ended func()) {
	s, ok := ctx.Value(scopeKey{}).(*scope)
	if !ok {
		return func() {}
	}
	done := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[done] = end
	if s.over {
		end()
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.running, done)
		close(done)
	}
}

func (s *scope) end() {
	s.mu.Lock()
	s.over = true
	for _, end := range s.running {
		end()
	}
	running := slices.Collect(maps.Keys(s.running))
	s.mu.Unlock()
	patience := time.NewTimer(scopePatience)
	defer patience.Stop()
	for _, done := range running {
		select {
		case <-done:
		case <-patience.C:
			return
		}
	}
}
