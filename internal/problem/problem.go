// Package problem owns the error that every front end can show: what went wrong, what to do next, and which kind of end it is.
// It refuses to print, and to know a front end.
package problem

import (
	"errors"

	"signalbox/internal/forge"
	"signalbox/internal/store"
)

// Kinds of ends. The command line exits with them.
const (
	OK         = 0
	General    = 1
	Usage      = 2
	NeedsInput = 3
	Failed     = 4
	Held       = 5
	NotFound   = 6
	Canceled   = 7
	NothingDue = 8
	Cooldown   = 9
	Untrusted  = 10
)

// Error is an error with what to do next. Without Err all has been said, and only the kind of end counts.
type Error struct {
	Err  error
	Hint string
	Code int
}

func (p *Error) Error() string {
	if p.Err == nil {
		return ""
	}
	return p.Err.Error()
}

func (p *Error) Unwrap() error { return p.Err }

// CodeOf returns the kind of end that an error is.
func CodeOf(err error) int {
	var p *Error
	var held *store.HeldError
	switch {
	case err == nil:
		return OK
	case errors.As(err, &p) && p.Code != 0:
		return p.Code
	case errors.As(err, &held):
		return Held
	case errors.Is(err, forge.ErrNotFound):
		return NotFound
	}
	return General
}
