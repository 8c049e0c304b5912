package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"
	"time"

	"signalbox/internal/flock"
)

// LedgerConfig configures a Ledger.
type LedgerConfig struct {
	// Root is the folder within which Dir is made; Dir is a slash-separated path. No link leads out of Root.
	Root, Dir string
	// Budget is what all calls together may use in a UTC day, and Calls is how many there may be; zero means no limit.
	Budget Spending
	Calls  int64
	Clock  func() time.Time
}

// Ledger is the Budget of a day, shared by all processes of a project. Each process has a file, read and written under one lock. The reservations
// of a killed process count as used, because no one knows better. The documents of runs record usage too, but seconds later, which is too late for
// simultaneous requests.
type Ledger struct {
	config LedgerConfig
	turn   chan struct{} // see Allowance

	mu    sync.Mutex
	today *page
	freed chan struct{}
}

// NewLedger returns a ledger. It touches no file before its first use.
func NewLedger(c LedgerConfig) *Ledger {
	return &Ledger{config: c, turn: make(chan struct{}, 1), freed: make(chan struct{})}
}

// Close closes the files. What was used stays recorded in them.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.today.close()
	l.today = nil
	return err
}

// ledgerPoll is how long a request waits before it checks again what other processes returned.
const ledgerPoll = 200 * time.Millisecond

// Reserve implements Budget.
func (l *Ledger) Reserve(ctx context.Context, want Ask) (Hold, error) {
	return inTurn(ctx, l.turn, ledgerPoll, func() (hold Hold, freed chan struct{}, err error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		err = l.locked(ctx, func(p *page) error {
			a, err := l.account(p)
			if err != nil {
				return err
			}
			set, ok, err := a.grant(want)
			if !ok || err != nil {
				return err
			}
			next := p.own
			next.HeldTokens, next.HeldMicroUSD, next.Holds = next.HeldTokens+set.Tokens, next.HeldMicroUSD+set.CostMicroUSD, next.Holds+1
			if err := p.write(next); err != nil {
				return err
			}
			hold = &part{ctx: context.WithoutCancel(ctx), ledger: l, page: p, set: set}
			return nil
		})
		return hold, l.freed, err
	})
}

// Begin counts one more call of an agent.
func (l *Ledger) Begin(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.locked(ctx, func(p *page) error {
		all, err := p.all()
		if err != nil {
			return err
		}
		if c := l.config.Calls; c > 0 && all.Calls >= c {
			return &spent{fmt.Errorf("the budget of the day %w: %d of %d calls", ErrSpent, all.Calls, c), p.ends}
		}
		next := p.own
		next.Calls++
		return p.write(next)
	})
}

// Add counts usage that was not reserved.
func (l *Ledger) Add(ctx context.Context, s Spending) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.locked(ctx, func(p *page) error {
		next := p.own
		next.Tokens, next.MicroUSD = next.Tokens+s.Tokens, next.MicroUSD+s.CostMicroUSD
		return p.write(next)
	})
}

func (l *Ledger) account(p *page) (account, error) {
	all, err := p.all()
	return account{name: "the day", budget: l.config.Budget, until: p.ends, holds: all.Holds,
		used: Spending{Tokens: all.Tokens, CostMicroUSD: all.MicroUSD},
		held: Spending{Tokens: all.HeldTokens, CostMicroUSD: all.HeldMicroUSD}}, err
}

// locked runs do on today's page while no other process changes it. The caller holds l.mu.
func (l *Ledger) locked(ctx context.Context, do func(*page) error) (err error) {
	defer func() {
		if err != nil && !errors.Is(err, ErrSpent) && ctx.Err() == nil {
			err = fmt.Errorf("count what agents use in a day: %w", err)
		}
	}()
	date := l.config.Clock().UTC().Truncate(24 * time.Hour)
	if l.today == nil || !l.today.begins.Equal(date) {
		if l.today != nil && l.today.own.Holds == 0 {
			_ = l.today.close() // its lock goes with it; its entry is complete
		}
		if l.today, err = l.open(ctx, date); err != nil {
			return err
		}
	}
	return l.today.locked(ctx, func() error { return do(l.today) })
}

// open begins this process's page of a day, and removes the pages of days long past.
func (l *Ledger) open(ctx context.Context, date time.Time) (*page, error) {
	root, err := os.OpenRoot(l.config.Root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	days, err := fs.ReadDir(root.FS(), l.config.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, day := range days {
		if old, err := time.Parse(time.DateOnly, day.Name()); err == nil && date.Sub(old) > keptDays {
			if err := root.RemoveAll(path.Join(l.config.Dir, day.Name())); err != nil {
				return nil, err
			}
		}
	}
	dir := path.Join(l.config.Dir, date.Format(time.DateOnly))
	if err := root.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	p := &page{begins: date, ends: date.Add(24 * time.Hour), name: secret(), dead: map[string]entry{}}
	if p.dir, err = root.OpenRoot(dir); err != nil {
		return nil, err
	}
	err = p.locked(ctx, func() error { // its lock shows that this process is alive
		if p.file, err = p.dir.OpenFile(p.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return err
		}
		if _, err := flock.Try(p.file); err != nil {
			return err
		}
		return p.write(entry{})
	})
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// keptDays is how long a day's page is kept, in case clocks differ.
const keptDays = 2 * 24 * time.Hour

// part is a Hold of a Ledger.
type part struct {
	ctx       context.Context //nolint:containedctx // the request's values without its end, because its usage is recorded even after cancellation
	ledger    *Ledger
	page      *page
	set, used Spending
}

// Spend implements Hold. Usage within the reservation changes nothing for other processes, so it is written when the request ends; only an excess
// is checked at once.
func (h *part) Spend(s Spending) error {
	h.ledger.mu.Lock()
	defer h.ledger.mu.Unlock()
	before := h.used.sub(h.set).above()
	h.used = h.used.add(s)
	beyond := h.used.sub(h.set).above()
	if more := beyond.sub(before); more == (Spending{}) {
		return nil
	}
	return h.page.locked(h.ctx, func() error {
		next := h.page.own
		next.Tokens, next.MicroUSD = next.Tokens+beyond.Tokens-before.Tokens, next.MicroUSD+beyond.CostMicroUSD-before.CostMicroUSD
		if err := h.page.write(next); err != nil {
			return err
		}
		a, err := h.ledger.account(h.page)
		if err != nil {
			return err
		}
		a.used = a.used.add(h.set) // certainly used, since more than it is needed
		return a.over(1)
	})
}

// Release implements Hold.
func (h *part) Release() {
	l := h.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = h.page.locked(h.ctx, func() error { // on an error it stays reserved, which is too much rather than too little
		within := h.used.sub(h.used.sub(h.set).above())
		next := h.page.own
		next.Tokens, next.MicroUSD = next.Tokens+within.Tokens, next.MicroUSD+within.CostMicroUSD
		next.HeldTokens, next.HeldMicroUSD, next.Holds = next.HeldTokens-h.set.Tokens, next.HeldMicroUSD-h.set.CostMicroUSD, next.Holds-1
		return h.page.write(next)
	})
	close(l.freed)
	l.freed = make(chan struct{})
}
