package process

import (
	"sync"
	"time"
)

// Deadline is a deadline that can pause while a program waits for a person: a total one or, with Restart, an idle one.
// Command.Total and Command.Idle never pause.
type Deadline struct {
	limit time.Duration
	end   func()

	mu    sync.Mutex
	timer *time.Timer
	// left is what was left of the limit at since.
	left  time.Duration
	since time.Time
	// held is the number of Holds without a Release.
	held int
}

// NewDeadline returns a deadline that calls end after limit, not counting the time in which it was held; zero is no limit.
func NewDeadline(limit time.Duration, end func()) *Deadline {
	d := &Deadline{limit: limit, left: limit, since: time.Now(), end: end}
	if limit > 0 {
		d.timer = time.AfterFunc(limit, d.passed)
	}
	return d
}

// passed runs when the timer fires, possibly just as the deadline is held or restarted. A hold prevents the end; a restart
// doesn't: it came too late, if only by a moment.
func (d *Deadline) passed() {
	d.mu.Lock()
	running := d.held == 0
	d.mu.Unlock()
	if running {
		d.end()
	}
}

// Hold pauses the deadline until Release has been called as often as Hold.
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

// Restart gives the deadline its whole limit again. A held one gets it when it is released.
func (d *Deadline) Restart() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left, d.since = d.limit, time.Now()
	if d.timer != nil && d.held == 0 {
		d.timer.Reset(d.limit)
	}
}
