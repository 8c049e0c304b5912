package hosted

import (
	"errors"
	"testing"

	"signalbox/internal/forge"
)

func TestTheWayToMergeIsTheSurestThatTheServerAllows(t *testing.T) {
	t.Parallel()
	all := forge.Repository{Methods: []string{"squash", "merge"}}
	for _, c := range []struct {
		name   string
		wanted Way
		r      forge.Repository
		asked  forge.Requirements
		want   Way
		err    error
	}{
		{name: "an open branch", r: all, want: Exact},
		{name: "methods unknown", want: Exact},
		{name: "required checks where a push is allowed", r: all, asked: forge.Requirements{Verdicts: []string{"ci"}}, want: Exact},
		{name: "pushes refused", r: all, asked: forge.Requirements{PushRefused: true}, want: Guarded},
		{name: "approvals asked for", r: all, asked: forge.Requirements{Approvals: 1}, want: Guarded},
		{name: "protection unreadable", r: all, asked: forge.Requirements{Unknown: true}, want: Guarded},
		{name: "squash only", r: forge.Repository{Methods: []string{"squash"}}, want: Guarded},
		{name: "a queue", r: all, asked: forge.Requirements{Queue: true}, want: Queue},
		{name: "guarded wanted", wanted: Guarded, r: all, want: Guarded},
		{name: "guarded wanted, a queue", wanted: Guarded, r: all, asked: forge.Requirements{Queue: true}, err: forge.ErrRemote},
		{name: "exact wanted, protection unreadable", wanted: Exact, r: all, asked: forge.Requirements{Unknown: true}, want: Exact},
		{name: "exact wanted, pushes refused", wanted: Exact, r: all, asked: forge.Requirements{PushRefused: true}, err: forge.ErrRemote},
		{name: "exact wanted, a queue", wanted: Exact, r: all, asked: forge.Requirements{Queue: true}, err: forge.ErrRemote},
		{name: "a queue wanted, and there is none", wanted: Queue, r: all, err: errNoQueue},
		{name: "a queue wanted", wanted: Queue, r: all, asked: forge.Requirements{Queue: true, PushRefused: true}, want: Queue},
	} {
		got, why, err := Choose(c.wanted, c.r, c.asked)
		if got != c.want || (why == "") != (c.err != nil) || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, got, err, c.want, c.err)
		}
	}
}
