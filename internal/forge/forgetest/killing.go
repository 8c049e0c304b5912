package forgetest

import (
	"math/rand/v2"
	"testing"

	"signalbox/internal/forge"
)

// atEveryInstant kills the operation at its first step, at its second and so on (or as Every says), each time
// in a new project, until the operation ends before the kill.
func atEveryInstant(t *testing.T, p *project, test func(t *testing.T, p *project, kill func(Operation) (died bool))) {
	t.Helper()
	apart := max(p.Every, 1)
	first := rand.IntN(apart)
	for n := first; ; n += apart {
		over := false
		test(t, p, func(operation Operation) bool {
			died := p.Kill(t, n, operation)
			over = !died
			return died
		})
		switch {
		case t.Failed():
			t.Fatalf("after a kill at instant %d", n)
		case over && n > first:
			t.Logf("killed at every %d. instant from %d to %d", apart, first, n-apart)
			return
		case over && first == 0:
			t.Fatal("there is no instant to kill at")
		case over: // the operation is shorter
			first = rand.IntN(first)
			n = first - apart
		}
		p = p.fresh(t)
	}
}

func killedOpening(t *testing.T, p *project) {
	atEveryInstant(t, p, func(t *testing.T, p *project, kill func(Operation) bool) {
		change := p.change(t, 1, map[string]string{"a": "1"})
		kill(Operation{Open: &change})
		pr := p.open(t, change)
		if pr.Number != p.open(t, change).Number || pr.State != forge.Open {
			t.Errorf("opened as %+v", pr)
		}
		p.wantPublished(t, change)
		if other := p.open(t, p.change(t, 2, map[string]string{"b": "1"})); other.Number == pr.Number {
			t.Errorf("number %d was given out twice", pr.Number)
		}
	})
}

func killedMerge(t *testing.T, p *project) {
	atEveryInstant(t, p, func(t *testing.T, p *project, kill func(Operation) bool) {
		pr, check := p.passed(t, p.change(t, 1, map[string]string{"a": "1", "b": "2"}))
		kill(Operation{Merge: &Merge{pr.Number, check, "m"}})
		f := p.Open(t)
		if may, ok := f.(forge.Mergeable); ok {
			if err := may.MayMerge(t.Context(), p.Base); err != nil {
				t.Errorf("no other run may begin: %v", err)
			}
		}
		merged, err := mergeNow(t.Context(), f, pr.Number, check, "m")
		if err != nil {
			t.Fatal(err)
		}
		p.wantMerged(t, merged, check)
	})
}

// killedThenAnother: the killed merge is repeated only after a second merge, which touches the same file.
func killedThenAnother(t *testing.T, p *project) {
	atEveryInstant(t, p, func(t *testing.T, p *project, kill func(Operation) bool) {
		one, check := p.passed(t, p.change(t, 1, map[string]string{"a": "1\n", "both": "1\n"}))
		change := p.change(t, 2, map[string]string{"b": "2\n", "both": "1\n"})
		kill(Operation{Merge: &Merge{one.Number, check, "m"}})
		if err := land(t.Context(), p.Open(t), change); err != nil {
			t.Fatal(err)
		}
		p.wantFollowed(t)
		again, err := eventually(t.Context(), func() (forge.Check, error) { return p.forge.Checks(t.Context(), one.Number) })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := mergeNow(t.Context(), p.Open(t), one.Number, again, "m"); err != nil {
			t.Fatal(err)
		}
		if merges := p.git(t, "rev-list", "--merges", "--count", p.Base); merges != "2" {
			t.Errorf("%s merge commits, want 2", merges)
		}
		p.wantFollowed(t)
	})
}
