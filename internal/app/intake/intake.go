// Package intake takes orders that people give on the forge, by comments and the label, to the runs of this project. It believes nothing of a
// webhook: that only says where to read. Each order is obeyed once, whatever is killed and however often it is read. The package runs no run
// itself: it says which ones its caller has to run.
package intake

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/store"
)

// Forge is what is asked of the forge.
type Forge interface {
	// Orders returns what people ordered on an issue or a pull request after a time, oldest first. Whether they may is not looked at.
	Orders(ctx context.Context, on forge.Subject, after time.Time) ([]forge.Order, error)
	// Changes lists what changed at a time or later, the longest ago first.
	Changes(ctx context.Context, since time.Time) ([]forge.Change, error)
	// MayOrder reports whether an account may write to the repository now.
	MayOrder(ctx context.Context, account string) (bool, error)
	// Acknowledge shows the author of an order that it was seen.
	Acknowledge(ctx context.Context, order forge.Order) error
	// Tell writes a comment, once for each key.
	Tell(ctx context.Context, on forge.Subject, key, body string) error
	// Offered reports whether a comment of ours before an order shows the commit.
	Offered(ctx context.Context, order forge.Order, commit string) (bool, error)
	Request(ctx context.Context, ref string) (forge.Request, error)
	// Pin has the run that an order begins or continues take an issue as it was when the order was given, or returns an *forge.EditedError.
	Pin(ctx context.Context, order forge.Order, number int) error
	// Unpin forgets what no run has taken.
	Unpin(ctx context.Context, number int) error
}

// Config is what an intake is made of. All fields are required.
type Config struct {
	Forge  Forge
	Store  *store.Store
	Now    func() time.Time
	Logger *slog.Logger
}

// Intake takes orders. One process of a project does at a time.
type Intake struct {
	Config
	mu sync.Mutex
	// looks counts how often something was looked at as it was at that time. It only saves calls.
	looks map[look]int
}

// look is an issue or a pull request when it changed last.
type look struct {
	on forge.Subject
	at time.Time
}

// New returns an intake.
func New(c Config) *Intake { return &Intake{Config: c, looks: map[look]int{}} }

// Result is what a look at the forge came to.
type Result struct {
	// Run are the numbers of issues whose runs have to be begun or continued by the caller, the most urgent first.
	Run []string
	// Orders are those that were new.
	Orders []Outcome
	// Woken are the runs that waited for the forge, by their numbers.
	Woken []int
}

// Outcome is what became of an order.
type Outcome struct {
	Order forge.Order
	// Refused says why it was not obeyed; empty if it was.
	Refused string
}
