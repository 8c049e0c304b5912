package workflow

import (
	"fmt"
	"testing"
)

func TestSignalsAreMergedThreeWays(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	commands := func(ids ...string) (all []Command) {
		for _, id := range ids {
			all = append(all, Command{ID: id})
		}
		return all
	}
	type signals = Signals
	for name, c := range map[string]struct{ seen, mine, theirs, want signals }{
		"a new stop arrives":                   {theirs: signals{StopRequested: true}, want: signals{StopRequested: true}},
		"an acknowledged stop goes":            {seen: signals{StopRequested: true}, theirs: signals{StopRequested: true}},
		"a withdrawn stop goes":                {seen: signals{StopRequested: true}, mine: signals{StopRequested: true}},
		"an acknowledgement spares the resume": {seen: signals{StopRequested: true}, theirs: signals{StopRequested: true, ResumeRequested: true}, want: signals{ResumeRequested: true}},
		"new notes arrive":                     {seen: signals{Notes: text("a")}, mine: signals{Notes: text("a")}, theirs: signals{Notes: text("b")}, want: signals{Notes: text("b")}},
		"read notes go":                        {seen: signals{Notes: text("a")}, theirs: signals{Notes: text("a")}},
		"newer notes outlive the reading":      {seen: signals{Notes: text("a")}, theirs: signals{Notes: text("b")}, want: signals{Notes: text("b")}},
		"obeyed commands go, new ones stay": {seen: signals{Commands: commands("a", "b")}, mine: signals{Commands: commands("b")},
			theirs: signals{Commands: commands("a", "b", "c")}, want: signals{Commands: commands("b", "c")}},
		"named orders arrive":      {mine: signals{Commands: commands("a")}, theirs: signals{Orders: []string{"comment/1"}}, want: signals{Orders: []string{"comment/1"}}},
		"a withdrawn command goes": {seen: signals{Commands: commands("a")}, mine: signals{Commands: commands("a")}},
	} {
		got := MergeSignals(c.seen, c.mine, c.theirs)
		if got.StopRequested != c.want.StopRequested || got.ResumeRequested != c.want.ResumeRequested ||
			!equalText(got.Notes, c.want.Notes) || fmt.Sprint(got.Commands, got.Orders) != fmt.Sprint(c.want.Commands, c.want.Orders) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func equalText(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}
