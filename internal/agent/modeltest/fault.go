package modeltest

import (
	"net/http"
	"strconv"
	"time"
)

// Fault is the way in which an answer goes wrong. The zero value is none.
type Fault struct {
	Kind Kind
	// Times is how many attempts at the turn meet the fault before one gets its answer; zero is
	// all of them.
	Times int
	// RetryAfter is in the header of that name, in seconds, or as a date if AsDate; zero leaves the
	// header out. It is also when the limits in the vendor's own headers and details end.
	RetryAfter time.Duration
	AsDate     bool
	// InStream sends the error as the API does after a stream has started well, with status 200, after Events events.
	InStream bool
	// Events is how many events of the stream come before it is Stalled, Cut, Ended or Malformed.
	Events int
	// Delay is before each event of a Slow stream.
	Delay time.Duration
}

// Kind is what goes wrong.
type Kind string

const (
	// The errors, each in its vendor's words.

	Unauthorized Kind = "unauthorized"  // 401: there is no such key
	Forbidden    Kind = "forbidden"     // 403: the key may not use the model
	RateLimited  Kind = "rate-limited"  // 429: too much at once; passes in seconds or minutes
	UsageLimited Kind = "usage-limited" // 429: a plan's or a day's share is used up; passes in hours
	ServerError  Kind = "server-error"  // 500
	Overloaded   Kind = "overloaded"    // 529 at Anthropic, elsewhere 503
	Overflow     Kind = "overflow"      // 400: the conversation is larger than the model's context

	// Faults of streams. An answer that isn't streamed counts as two events, its halves.

	Stalled   Kind = "stalled"   // headers and some events, then silence until the agent goes
	Cut       Kind = "cut"       // the connection is reset
	Ended     Kind = "ended"     // the stream ends like a whole one, without its last events
	Malformed Kind = "malformed" // an event is broken JSON; the others follow
	Slow      Kind = "slow"      // every event comes late
)

// statuses are the HTTP statuses of errors. A vendor's own is in its dialect.
var statuses = map[Kind]int{
	Unauthorized: http.StatusUnauthorized,
	Forbidden:    http.StatusForbidden,
	RateLimited:  http.StatusTooManyRequests,
	UsageLimited: http.StatusTooManyRequests,
	ServerError:  http.StatusInternalServerError,
	Overloaded:   http.StatusServiceUnavailable,
	Overflow:     http.StatusBadRequest,
}

// failed is an error for the agent.
type failed struct {
	fault Fault
	// now is when the error is sent; reset is when a limit ends.
	now, reset time.Time
	model      string
}

// failed returns the error of a fault that happens now.
func (s *Server) failed(fault Fault, model string) failed {
	now := s.config.Clock()
	return failed{fault: fault, now: now, reset: now.Add(fault.RetryAfter).UTC().Truncate(time.Second), model: model}
}

// retryAfter sets the header that all vendors share.
func (f failed) retryAfter(header http.Header) {
	switch {
	case f.fault.RetryAfter == 0:
	case f.fault.AsDate:
		header.Set("Retry-After", f.reset.Format(http.TimeFormat))
	default:
		header.Set("Retry-After", f.seconds())
	}
}

// seconds returns RetryAfter in whole seconds, never less than asked.
func (f failed) seconds() string {
	return strconv.Itoa(int((f.fault.RetryAfter + time.Second - 1) / time.Second))
}
