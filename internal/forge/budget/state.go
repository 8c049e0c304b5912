package budget

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/forge/rest"
)

// Limit is how many calls the server still accepts.
type Limit struct {
	Limit     int `json:"limit"`
	Remaining int `json:"remaining"`
	// Reset is when Remaining is Limit again, by our clock.
	Reset time.Time `json:"reset"`
}

// Count counts what was asked.
type Count struct {
	// Sent is how many calls were sent, and Paid how many of them the server counted. Unchanged were answered with "not modified": on GitHub they
	// cost nothing.
	Sent      int `json:"sent"`
	Paid      int `json:"paid"`
	Unchanged int `json:"unchanged"`
	// These were not sent. Joined: an equal call was under way. Recent: a recent answer was good enough. Held: the server would have refused it.
	Joined int `json:"joined"`
	Recent int `json:"recent"`
	Held   int `json:"held"`
	// Calls are those that were sent in the present hour, by kind: the method and the path without its names and numbers, such as
	// "GET issues/*/comments".
	Calls map[string]int `json:"calls,omitempty"`
}

func (c *Count) add(o Count) {
	c.Sent, c.Paid, c.Unchanged = c.Sent+o.Sent, c.Paid+o.Paid, c.Unchanged+o.Unchanged
	c.Joined, c.Recent, c.Held = c.Joined+o.Joined, c.Recent+o.Recent, c.Held+o.Held
}

func (c *Count) call(kind string) {
	if c.Calls == nil {
		c.Calls = map[string]int{}
	}
	if _, known := c.Calls[kind]; !known && len(c.Calls) >= maxKinds {
		kind = "other"
	}
	c.Calls[kind]++
	c.Sent++
}

// state is what is shared of one credential. It is written as JSON.
type state struct {
	Version int    `json:"version"`
	Host    string `json:"host"`
	Name    string `json:"name,omitempty"`
	// Limits are the server's, by its own names. A server can't fill our memory with limits of many names.
	Limits map[string]Limit `json:"limits,omitempty"`
	// Pauses are the times before which no one calls, by limit; "" is for all calls.
	Pauses map[string]pause `json:"pauses,omitempty"`
	// Hours counts by the hour, the newest last.
	Hours []hour `json:"hours,omitempty"`
}

// pause is a time without calls.
type pause struct {
	Until time.Time `json:"until"`
	// Times is how often in a row the server refused calls for a limit without saying for how long.
	Times int `json:"times,omitempty"`
}

type hour struct {
	Begin time.Time `json:"begin"`
	Count
}

const (
	version   = 1
	maxLimits = 32
	maxKinds  = 100
	keptHours = 24
	// firstPause is what GitHub's documentation asks for if a limit names no time; each further one is twice as long, up to lastPause.
	firstPause = time.Minute
	lastPause  = time.Hour
)

// decoded reads a state, or begins a new one if the text is damaged or of another version.
func decoded(text []byte, begun state) state {
	var s state
	if json.Unmarshal(text, &s) != nil || s.Version != version {
		return begun
	}
	return s
}

// prune forgets what is over, and what no clock of ours can have written.
func (s *state) prune(now time.Time) {
	impossible := func(t time.Time) bool { return t.After(now.Add(maxHold)) }
	for name, p := range s.Pauses {
		if impossible(p.Until) || now.Sub(p.Until) > lastPause {
			delete(s.Pauses, name)
		}
	}
	for name, l := range s.Limits {
		if impossible(l.Reset) || now.Sub(l.Reset) > maxHold {
			delete(s.Limits, name)
		}
	}
	kept := s.Hours[:0]
	for _, h := range s.Hours {
		if age := now.Sub(h.Begin); age < keptHours*time.Hour && age > -time.Hour {
			kept = append(kept, h)
		}
	}
	s.Hours = kept
}

// heldUntil is when the next call that counts against a limit may be sent; zero if it may be sent now.
func (s *state) heldUntil(limit string, now time.Time) (until time.Time) {
	later := func(t time.Time) {
		if t.After(now) && t.After(until) && t.Sub(now) <= maxHold {
			until = t
		}
	}
	later(s.Pauses[""].Until)
	later(s.Pauses[limit].Until)
	if l, known := s.Limits[limit]; known && l.Remaining == 0 {
		later(l.Reset)
	}
	return until
}

// count changes the present hour's count.
func (s *state) count(now time.Time, change func(*Count)) {
	begin := now.UTC().Truncate(time.Hour)
	if n := len(s.Hours); n == 0 || !s.Hours[n-1].Begin.Equal(begin) {
		if n > 0 {
			s.Hours[n-1].Calls = nil // the file stays small
		}
		s.Hours = append(s.Hours, hour{Begin: begin})
	}
	change(&s.Hours[len(s.Hours)-1].Count)
}

// sighting is a call and what came back. Without a status, nothing did.
type sighting struct {
	kind, limit string
	paid        bool
	status      int
	header      http.Header
	text        string
}

// learn takes in what a call and its answer show.
func (s *state) learn(seen sighting, now time.Time) {
	s.count(now, func(c *Count) {
		c.call(seen.kind)
		if seen.paid {
			c.Paid++
		}
		if seen.status == http.StatusNotModified {
			c.Unchanged++
		}
	})
	if seen.status == 0 {
		return
	}
	name, l, told := limitIn(seen.header, now)
	if told {
		s.limit(name, l)
	}
	usedUp := told && l.Remaining == 0
	asked := min(rest.RetryAfter(seen.header, now), maxHold)
	switch {
	case seen.status == http.StatusTooManyRequests,
		seen.status == http.StatusForbidden && (asked > 0 || usedUp || strings.Contains(strings.ToLower(seen.text), "rate limit")):
		on := ""
		if usedUp {
			on = seen.limit
			asked = max(asked, min(l.Reset.Sub(now), maxHold))
		}
		s.pause(on, asked, now)
	case seen.status < http.StatusBadRequest:
		for _, on := range []string{"", seen.limit} {
			if p, paused := s.Pauses[on]; paused && !p.Until.After(now) {
				delete(s.Pauses, on)
			}
		}
	}
}

// limit takes in a limit. Answers arrive in any order: in one period the smallest number is the newest, and an earlier period is over.
func (s *state) limit(name string, l Limit) {
	known, ok := s.Limits[name]
	switch apart := l.Reset.Sub(known.Reset); {
	case !ok && len(s.Limits) >= maxLimits, ok && apart < -samePeriod:
		return
	case ok && apart <= samePeriod:
		l.Remaining = min(l.Remaining, known.Remaining)
	}
	if s.Limits == nil {
		s.Limits = map[string]Limit{}
	}
	s.Limits[name] = l
}

// samePeriod is how far two reports of one reset can be apart: servers round, and answers travel.
const samePeriod = 5 * time.Second

// pause stops calls for as long as was asked, or, if nothing was, for longer each time. Calls that were under way together are refused together.
func (s *state) pause(on string, asked time.Duration, now time.Time) {
	p := s.Pauses[on]
	if asked == 0 && !p.Until.After(now) {
		asked = min(firstPause<<min(p.Times, 10), lastPause)
		p.Times++
	}
	if until := now.Add(min(asked, maxHold)); until.After(p.Until) {
		p.Until = until
	}
	if s.Pauses == nil {
		s.Pauses = map[string]pause{}
	}
	if _, known := s.Pauses[on]; known || len(s.Pauses) < maxLimits {
		s.Pauses[on] = p
	}
}

// limitIn reads the headers of a limit. Servers without limits have none.
func limitIn(h http.Header, now time.Time) (name string, l Limit, told bool) {
	for prefix, named := range map[string]string{"X-Ratelimit-": "Resource", "Ratelimit-": "Name"} {
		limit, err := strconv.Atoi(h.Get(prefix + "Limit"))
		remaining, unknown := strconv.Atoi(h.Get(prefix + "Remaining"))
		reset, never := strconv.ParseInt(h.Get(prefix+"Reset"), 10, 64)
		if err == nil && unknown == nil && never == nil {
			return h.Get(prefix + named), Limit{limit, max(0, remaining), now.Add(time.Unix(reset, 0).Sub(rest.Clock(h, now))).Round(time.Second)}, true
		}
	}
	return "", Limit{}, false
}
