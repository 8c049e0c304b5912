// Package modeltest is a model for tests: a server on loopback that answers in
// the wire formats of Anthropic Messages, OpenAI Responses, OpenAI Chat
// Completions and Gemini, by a Script. Agent programs cannot tell it from their
// vendor's, so drivers are tested with the programs themselves, without a key
// and without a network.
//
// What it answers depends on the conversation that it is sent and on nothing
// that it remembers: a resumed agent, or a second one, gets what fits its own
// place in the script. The one thing counted is how often a turn was asked for,
// by which a Fault knows when to stop. It refuses to guess: a path that it does
// not know is 404, and a tool that the agent does not offer is a 400; both are
// kept for the test to see (Server.Unexpected).
//
// The package also keeps what real agents printed when it answered them, well
// and badly: see Recorded. The recordings are made, and the agents held
// against them, in some minutes, by
//
//	SIGNALBOX_AGENTS=$(sh scripts/agents.sh) go test -tags agents -run Live -parallel 6 -timeout 30m ./internal/agent/modeltest [-capture]
package modeltest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Config says how a Server answers. The zero value ends every conversation at once, with DefaultText.
type Config struct {
	// Script is played to every conversation, unless Choose is set: it picks the script by what
	// the conversation says, such as the role in its prompt. Choose may be called concurrently.
	Script Script
	Choose func(Conversation) Script
	// Key is the only API key that is not answered 401; empty lets every key and none pass.
	Key string
	// Clock dates answers and resets; nil is time.Now. Pause waits between the events of a Slow
	// answer, and returns early with the context's error; nil waits by a timer.
	Clock func() time.Time
	Pause func(context.Context, time.Duration) error
	// Observe is called twice for every exchange: when it arrived, before its answer, and when it ended (Exchange.End is set). Tests wait for it.
	// Calls may overlap.
	Observe func(Exchange)
	// Listener is where Start listens; nil is a free port of 127.0.0.1. The server closes it.
	Listener net.Listener
}

// Server is the model. It is also an http.Handler, for tests that have a
// listener of another kind.
type Server struct {
	// URL is the address without a path: base for Anthropic and Gemini, base + "/v1" for OpenAI.
	// A path of the test's own may follow it (URL + "/session-7"), and is kept in Exchange.Path.
	URL string

	config  Config
	ledger  ledger
	numbers atomic.Int64 // the last id given to an answer or a call
}

// New makes a server that listens nowhere.
func New(config Config) *Server {
	if config.Choose == nil {
		config.Choose = func(Conversation) Script { return config.Script }
	}
	if config.Clock == nil {
		config.Clock = time.Now
	}
	if config.Pause == nil {
		config.Pause = func(ctx context.Context, d time.Duration) error {
			timer := time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-timer.C:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	if config.Observe == nil {
		config.Observe = func(Exchange) {}
	}
	return &Server{config: config, ledger: ledger{attempts: map[attempt]int{}}}
}

// Start makes a server that listens until the test ends.
func Start(t testing.TB, config Config) *Server {
	t.Helper()
	s, listener := New(config), config.Listener
	if listener == nil {
		var err error
		listener, err = new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatalf("listen on loopback: %v", err)
		}
	}
	s.URL = "http://" + listener.Addr().String()
	// Answer until the test ends; then release stalled requests.
	ctx, cancel := context.WithCancel(t.Context())
	server := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute, BaseContext: func(net.Listener) context.Context { return ctx }}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve scripted model: %v", err)
		}
	})
	t.Cleanup(func() {
		cancel()
		wait, done := context.WithTimeout(context.WithoutCancel(ctx), handlersWait)
		defer done()
		_ = server.Shutdown(wait)
		_ = server.Close()
		serving.Wait()
	})
	return s
}

// handlersWait is how long handlers may take to end with the test. A connection that was never
// used counts as one to the standard library for longer.
const handlersWait = 2 * time.Second

// Lean are variables for programs made with Bun, such as opencode: without their optimizing compiler, garbage collector and threads that compile
// ahead, a start takes half the processor time. That pays off for calls of a few seconds, in which memory grows to 400 MB, and to 1.2 GB at a terminal.
var Lean = []string{"BUN_JSC_useDFGJIT=0", "BUN_JSC_useGC=0", "BUN_JSC_useConcurrentJIT=0"}
