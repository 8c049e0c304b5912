package forgetest

import (
	"errors"
	"slices"
	"testing"

	"signalbox/internal/forge"
)

func openTwice(t *testing.T, p *project) {
	change := p.change(t, 1, map[string]string{"a": "1"})
	first := p.open(t, change)
	second, err := p.Open(t).OpenPullRequest(t.Context(), change)
	if err != nil {
		t.Fatal(err)
	}
	if first.Number == 0 || first != second {
		t.Errorf("opened %+v and then %+v", first, second)
	}
	found, err := p.forge.PullRequest(t.Context(), first.Number)
	if err != nil || found != first || found.State != forge.Open || found.Head != change.Head {
		t.Errorf("found %+v, %v, want %+v", found, err, first)
	}
	p.wantPublished(t, change)
	if other := p.open(t, p.change(t, 2, map[string]string{"b": "1"})); other.Number == first.Number {
		t.Errorf("both have number %d", other.Number)
	}
}

func (p *project) wantPublished(t *testing.T, change forge.PullRequest) {
	t.Helper()
	ref := "refs/heads/" + change.Branch
	if got := p.git(t, "rev-parse", ref); got != change.Head {
		t.Errorf("branch is at %s, want %s", got, change.Head)
	}
	if p.Remote == "" {
		return
	}
	if got := p.pushedBranch(t, change.Branch); got != change.Head {
		t.Errorf("the remote's branch is at %s, want %s", got, change.Head)
	}
}

func openAgain(t *testing.T, p *project) {
	change := p.change(t, 1, map[string]string{"a": "1"})
	first := p.open(t, change)
	change.Head = p.commit(t, change.Head, map[string]string{"a": "2"})
	change.Title = "Another title"
	second := p.open(t, change)
	if second.Number != first.Number || second.Head != change.Head || second.Title != change.Title {
		t.Errorf("opened again as %+v", second)
	}
	p.wantPublished(t, change)
	change.Head = p.commit(t, p.baseCommit(t), map[string]string{"a": "3"})
	p.open(t, change)
	p.wantPublished(t, change)
}

func unknownPull(t *testing.T, p *project) {
	for name, call := range map[string]func() error{
		"find":  func() error { _, err := p.forge.PullRequest(t.Context(), 99); return err },
		"check": func() error { _, err := p.forge.Checks(t.Context(), 99); return err },
		"merge": func() error { _, err := p.forge.Merge(t.Context(), 99, forge.Check{}, "m"); return err },
		"close": func() error { return p.forge.ClosePullRequest(t.Context(), 99) },
	} {
		if err := call(); !errors.Is(err, forge.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
}

func closedPull(t *testing.T, p *project) {
	change := p.change(t, 1, map[string]string{"a": "1"})
	pr, check := p.passed(t, change)
	for range 2 {
		if err := p.forge.ClosePullRequest(t.Context(), pr.Number); err != nil {
			t.Fatal(err)
		}
	}
	before := p.snapshot(t)
	if _, err := p.forge.Merge(t.Context(), pr.Number, check, "m"); err == nil {
		t.Error("merged a closed pull request")
	}
	p.wantUntouched(t, before)
	if again := p.open(t, change); again.State != forge.Closed || again.Number != pr.Number {
		t.Errorf("opening it again gives %+v", again)
	}
}

func comments(t *testing.T, p *project) {
	for _, c := range [][2]string{{"progress", "one"}, {"other", "two"}, {"progress", "three"}} {
		if err := p.forge.Comment(t.Context(), p.Request, c[0], c[1]); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := p.Comments(t), []string{"three", "two"}; !slices.Equal(got, want) {
		t.Errorf("comments are %q, want %q", got, want)
	}
	if request, err := p.forge.Request(t.Context(), p.Request.ID); err != nil || request.Closed {
		t.Errorf("before closing: %+v, %v", request, err)
	}
	for range 2 {
		if err := p.forge.CloseRequest(t.Context(), p.Request, p.baseCommit(t)); err != nil {
			t.Fatal(err)
		}
	}
	if request, err := p.forge.Request(t.Context(), p.Request.ID); err != nil || !request.Closed {
		t.Errorf("after closing: %+v, %v", request, err)
	}
}
