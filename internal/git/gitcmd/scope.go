package gitcmd

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// scopePatience is how long closing a scope waits for its git processes to exit. They only read, so milliseconds are usual.
const scopePatience = 5 * time.Second

// scope knows the dialogs that began in a context.
type scope struct {
	mu      sync.Mutex
	over    bool
	running map[chan struct{}]func()
}

type scopeKey struct{}

// Scope returns a context, and what ends each git that a repository asked in it keeps for further questions.
// A program that returns without would be outlived by them for an instant: the kernel ends them after it.
func Scope(ctx context.Context) (context.Context, func()) {
	s := &scope{running: map[chan struct{}]func(){}}
	return context.WithValue(ctx, scopeKey{}, s), s.end
}

// enter takes down what ends a dialog that begins, and returns what to call once it ended.
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
