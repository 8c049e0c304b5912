package process

import (
	"sync"
	"time"
)

// Deadline is a deadline that can pause, for a program that waits for a person: a total one or, with Restart, an idle
// one. Command.Total and Command.Idle never pause.
type Deadline struct {
	limit time.Duration
	end   func()

	mu    sync.Mutex
	timer *time.Timer
	// left is what was left of the limit at since.
	left  time.Duration
	since time.Time
	// held counts those who hold it.
	held int
}

// NewDeadline calls end after limit, in which it was not held; zero is no limit.
func NewDeadline(limit time.Duration, end func()) *Deadline {
	d := &Deadline{limit: limit, left: limit, since: time.Now(), end: end}
	if limit > 0 {
		d.timer = time.AfterFunc(limit, d.passed)
	}
	return d
}

// passed runs when the timer fires, possibly just as the deadline is held or restarted. Being held prevents the end; a
// restart does not: it was late, if only by that moment.
func (d *Deadline) passed() {
	d.mu.Lock()
	running := d.held == 0
	d.mu.Unlock()
	if running {
		d.end()
	}
}

// Hold pauses the deadline until Release was called as often as Hold.
func (d *Deadline) Hold() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held++
	if d.timer != nil && d.held == 1 {
		d.timer.Stop()
		d.left -= time.Since(d.since)
	}
}

// Release undoes one Hold.
func (d *Deadline) Release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held--
	if d.timer != nil && d.held == 0 {
		d.since = time.Now()
		d.timer.Reset(max(0, d.left))
	}
}

// Restart gives the deadline its whole limit again. One that is held begins with that once it is released.
func (d *Deadline) Restart() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left, d.since = d.limit, time.Now()
	if d.timer != nil && d.held == 0 {
		d.timer.Reset(d.limit)
	}
}
