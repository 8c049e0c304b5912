package forgetest

import (
	"slices"
	"testing"
)

// atEveryAnswer loses the answer to the operation's first change, to its second and so on, each time in a new project, and then lets it be
// repeated.
func atEveryAnswer(t *testing.T, p *project, test func(t *testing.T, p *project, lose func(Operation))) {
	t.Helper()
	if p.Lose == nil {
		t.Skip("no server, so no answer can be lost")
	}
	for n := 0; ; n++ {
		over := true
		test(t, p, func(operation Operation) {
			if !p.Lose(t, n, operation) {
				return
			}
			over = false
			if err := operation.Perform(t.Context(), p.Open(t)); err != nil {
				t.Errorf("repeated: %v", err)
			}
		})
		if t.Failed() {
			t.Fatalf("after a lost answer to change %d", n)
		}
		if over && n == 0 {
			t.Fatal("no answer was lost")
		}
		if over {
			t.Logf("%d answers were lost", n)
			return
		}
		p = p.fresh(t)
	}
}

func lostOpening(t *testing.T, p *project) {
	atEveryAnswer(t, p, func(t *testing.T, p *project, lose func(Operation)) {
		change := p.change(t, 1, map[string]string{"a": "1"})
		lose(Operation{Open: &change})
		change.Title = "Another title" // which is a change of the opened one
		lose(Operation{Open: &change})
		if again := p.open(t, change); again.Title != change.Title || p.Pulls(t) != 1 {
			t.Errorf("opened %d pull requests, the last as %+v", p.Pulls(t), again)
		}
	})
}

func lostComment(t *testing.T, p *project) {
	atEveryAnswer(t, p, func(t *testing.T, p *project, lose func(Operation)) {
		for _, body := range []string{"one", "two"} {
			lose(Operation{Comment: &Comment{p.Request, "progress", body}})
			if got := p.Comments(t); !slices.Equal(got, []string{body}) {
				t.Errorf("comments are %q, want %q", got, body)
			}
		}
	})
}

func lostRequest(t *testing.T, p *project) {
	atEveryAnswer(t, p, func(t *testing.T, p *project, lose func(Operation)) {
		lose(Operation{Request: &Request{"key-1", "It is broken", "Fix it"}})
		if requests, err := p.forge.Requests(t.Context()); err != nil || len(requests) != 2 {
			t.Errorf("requests are %+v, %v, want two", requests, err)
		}
	})
}

func lostMerge(t *testing.T, p *project) {
	atEveryAnswer(t, p, func(t *testing.T, p *project, lose func(Operation)) {
		pr, check := p.passed(t, p.change(t, 1, map[string]string{"a": "1"}))
		lose(Operation{Merge: &Merge{pr.Number, check, "m"}})
		p.wantMerged(t, p.merge(t, pr, check), check)
		if p.Pulls(t) != 1 || p.pushedBranch(t, pr.Branch) != "" {
			t.Errorf("%d pull requests, and the branch is at %q", p.Pulls(t), p.pushedBranch(t, pr.Branch))
		}
	})
}
