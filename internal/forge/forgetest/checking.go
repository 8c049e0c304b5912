package forgetest

import (
	"errors"
	"strings"
	"testing"

	"signalbox/internal/forge"
)

func failingChecks(t *testing.T, p *project) {
	pr := p.open(t, p.change(t, 1, map[string]string{FailingFile: ""}))
	check, err := p.forge.Checks(t.Context(), pr.Number)
	if err != nil || check.State != forge.CheckFailed || check.Head != pr.Head || check.Base != p.baseCommit(t) {
		t.Fatalf("check is %+v, %v", check, err)
	}
	before := p.snapshot(t)
	if _, err := p.forge.Merge(t.Context(), pr.Number, check, "m"); err == nil {
		t.Error("merged what failed")
	}
	check.State = forge.CheckPassed
	if _, err := p.forge.Merge(t.Context(), pr.Number, check, "m"); err == nil {
		t.Error("merged on the caller's word")
	}
	p.wantUntouched(t, before)
}

func testedOnce(t *testing.T, p *project) {
	pr, first := p.passed(t, p.change(t, 1, map[string]string{"a": "1"}))
	second, err := p.Open(t).Checks(t.Context(), pr.Number)
	if err != nil || second.Tree != first.Tree || second.State != first.State || p.Runs() != 1 {
		t.Errorf("second check is %+v, %v after %d runs", second, err, p.Runs())
	}
	tree := p.git(t, "rev-parse", pr.Head+"^{tree}")
	if first.Tree != tree || first.Head != pr.Head || first.Base != p.baseCommit(t) {
		t.Errorf("checked %+v, want tree %s of head %s", first, tree, pr.Head)
	}
	p.commitOnBase(t, "elsewhere", "1")
	if third, err := p.forge.Checks(t.Context(), pr.Number); err != nil || third.Tree == tree || p.Runs() != 2 {
		t.Errorf("check after the base moved is %+v, %v after %d runs", third, err, p.Runs())
	}
}

func conflict(t *testing.T, p *project) {
	pr := p.open(t, p.change(t, 1, map[string]string{"a \"file": "theirs\n"}))
	p.commitOnBase(t, "a \"file", "ours\n")
	_, err := p.forge.Checks(t.Context(), pr.Number)
	if !errors.Is(err, forge.ErrConflict) || !strings.Contains(err.Error(), "file") {
		t.Errorf("check gives %v, want a conflict that names the file", err)
	}
	if p.Runs() != 0 {
		t.Errorf("tests were run %d times", p.Runs())
	}
	before := p.snapshot(t)
	if _, err := p.forge.Merge(t.Context(), pr.Number, forge.Check{Head: pr.Head}, "m"); !errors.Is(err, forge.ErrConflict) {
		t.Errorf("merge gives %v, want a conflict", err)
	}
	p.wantUntouched(t, before)
}

func headMoved(t *testing.T, p *project) {
	change := p.change(t, 1, map[string]string{"a": "1"})
	pr, check := p.passed(t, change)
	change.Head = p.commit(t, change.Head, map[string]string{"a": "2"})
	p.passed(t, change)
	before := p.snapshot(t)
	if _, err := p.forge.Merge(t.Context(), pr.Number, check, "m"); err == nil {
		t.Error("merged another head than the check was about")
	}
	p.wantUntouched(t, before)
}
