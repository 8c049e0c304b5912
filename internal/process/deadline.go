package process

import (
	"sync"
	"time"
)

// Deadline is a total deadline that can pause, for a program that waits for a person. Command.Total never pauses.
type Deadline struct {
	end func()

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
	d := &Deadline{left: limit, since: time.Now(), end: end}
	if limit > 0 {
		d.timer = time.AfterFunc(limit, d.passed)
	}
	return d
}

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
