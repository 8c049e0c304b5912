package budget

import (
	"cmp"
	"context"
	"maps"
	"sync"
	"time"
)

// account is what is shared of one credential, as this process knows it.
type account struct {
	id      string
	flights flights
	answers answers
	now     func() time.Time
	file    *stateFile // nil if nothing is shared
	begun   state

	mu sync.Mutex
	// last is the state as this process saw it last. It is all there is if no file can be used.
	last state
	// unsent counts calls that were not sent. They are written with the next one that is.
	unsent Count
}

func newAccount(in *folder, id string, begun state, now func() time.Time) *account {
	begun.Version = version
	a := &account{id: id, now: now, begun: begun, last: begun, answers: &memory{}}
	if in != nil {
		a.file, a.answers = in.state(id), in.answers(id)
	}
	return a
}

// heldUntil reads without a lock: the file is replaced whole.
func (a *account) heldUntil(limit string) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file != nil {
		if s, ok := a.file.read(a.begun); ok {
			a.last = s
		}
	}
	return a.last.heldUntil(limit, a.now())
}

func (a *account) learn(ctx context.Context, seen sighting) {
	a.update(ctx, func(s *state) { s.learn(seen, a.now()) })
}

func (a *account) count(change func(*Count)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(&a.unsent)
}

// update changes what is shared, also after the call's end. If it can't be changed, this process remembers it alone.
func (a *account) update(ctx context.Context, change func(*state)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	changed := func(s *state) {
		s.prune(a.now())
		s.count(a.now(), func(c *Count) { c.add(a.unsent) })
		change(s)
		a.last = *s
	}
	if a.file == nil || !a.file.update(context.WithoutCancel(ctx), a.begun, changed) {
		changed(&a.last)
	}
	a.unsent = Count{}
}

// Use is what is known of one credential.
type Use struct {
	// Host is the server, and Name the credential's for people: "token 1a2b3c4d" if it has none, by the beginning of its digest.
	Host, Name string
	// Limits are the server's as it last reported them, by its own names.
	Limits map[string]Limit
	// HeldUntil is the time before which calls are held back, of all limits the last; zero if none are.
	HeldUntil time.Time
	// Hour counts since the hour began, and Day the last 24 hours, by all processes.
	Hour, Day Count
}

func (a *account) use() Use {
	a.heldUntil("")
	a.mu.Lock()
	defer a.mu.Unlock()
	u := a.last.use(a.id, a.now())
	u.Hour.add(a.unsent)
	u.Day.add(a.unsent)
	return u
}

func (s *state) use(id string, now time.Time) Use {
	u := Use{Host: s.Host, Name: cmp.Or(s.Name, "token "+id[:min(len(id), 8)]), Limits: maps.Clone(s.Limits)}
	for _, h := range s.Hours {
		u.Day.add(h.Count)
		if h.Begin.Equal(now.UTC().Truncate(time.Hour)) {
			u.Hour = h.Count
			u.Hour.Calls = maps.Clone(h.Calls)
		}
	}
	maps.DeleteFunc(u.Limits, func(_ string, l Limit) bool { return !l.Reset.After(now) }) // how much is left since then is not known
	for limit := range u.Limits {
		if until := s.heldUntil(limit, now); until.After(u.HeldUntil) {
			u.HeldUntil = until
		}
	}
	for limit := range s.Pauses {
		if until := s.heldUntil(limit, now); until.After(u.HeldUntil) {
			u.HeldUntil = until
		}
	}
	return u
}
