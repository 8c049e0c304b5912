package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"signalbox/internal/flock"
)

// entry is what one process has used and reserved on a day.
type entry struct {
	Tokens       int64 `json:"tokens"`
	MicroUSD     int64 `json:"cost_micro_usd"`
	Calls        int64 `json:"calls"`
	HeldTokens   int64 `json:"held_tokens"`
	HeldMicroUSD int64 `json:"held_cost_micro_usd"`
	Holds        int   `json:"holds"`
}

// page is one day, as one process sees it.
type page struct {
	begins, ends time.Time
	dir          *os.Root
	// name is our own file, whose lock shows that we are alive; own is its content.
	name string
	file *os.File
	own  entry
	// dead are the entries of dead processes, which no longer change.
	dead map[string]entry
}

const (
	pageLock = "lock"
	// entrySize is the padded size of every entry, so that a new one always covers the old one.
	entrySize = 256
)

// locked runs do while no other process uses the day's folder. The lock ends with the process, so a kill leaves none.
func (p *page) locked(ctx context.Context, do func() error) error {
	lock, err := p.dir.OpenFile(pageLock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := flock.Wait(ctx, lock); err != nil {
		return err
	}
	return errors.Join(do(), flock.Release(lock))
}

// write is one system call, so a kill leaves either the old entry or the new one.
func (p *page) write(e entry) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	filled := append(text, make([]byte, max(0, entrySize-len(text)))...)
	for i := len(text); i < len(filled); i++ {
		filled[i] = ' '
	}
	if _, err := p.file.WriteAt(filled, 0); err != nil {
		return err
	}
	p.own = e
	return nil
}

// all returns the sum over all processes. The caller holds the page's lock.
func (p *page) all() (sum entry, err error) {
	files, err := fs.ReadDir(p.dir.FS(), ".")
	if err != nil {
		return sum, err
	}
	sum = p.own
	for _, f := range files {
		if f.Name() == pageLock || f.Name() == p.name {
			continue
		}
		e, known := p.dead[f.Name()]
		if !known {
			if e, err = p.read(f.Name()); err != nil {
				return sum, err
			}
		}
		sum = entry{sum.Tokens + e.Tokens, sum.MicroUSD + e.MicroUSD, sum.Calls + e.Calls,
			sum.HeldTokens + e.HeldTokens, sum.HeldMicroUSD + e.HeldMicroUSD, sum.Holds + e.Holds}
	}
	return sum, nil
}

// read returns what another process used. If that process is dead, what it had reserved counts as used, because no one knows better, and the entry is
// remembered: it no longer changes.
func (p *page) read(name string) (e entry, err error) {
	file, err := p.dir.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return e, err
	}
	text, err := io.ReadAll(io.LimitReader(file, 2*entrySize))
	if err == nil && len(text) > 0 { // otherwise it was killed before its first entry
		err = json.Unmarshal(text, &e)
	}
	if min(e.Tokens, e.MicroUSD, e.Calls, e.HeldTokens, e.HeldMicroUSD, int64(e.Holds)) < 0 {
		err = errors.Join(err, errNegative)
	}
	if err != nil {
		return e, errors.Join(fmt.Errorf("read %s: %w", name, err), file.Close())
	}
	gone, err := flock.Try(file)
	if !gone || err != nil {
		return e, errors.Join(err, file.Close())
	}
	p.dead[name] = entry{Tokens: e.Tokens + e.HeldTokens, MicroUSD: e.MicroUSD + e.HeldMicroUSD, Calls: e.Calls}
	return p.dead[name], flock.Release(file)
}

var errNegative = errors.New("it counts less than nothing")

func (p *page) close() error {
	if p == nil {
		return nil
	}
	var err error
	if p.file != nil {
		err = flock.Release(p.file)
	}
	return errors.Join(err, p.dir.Close())
}
