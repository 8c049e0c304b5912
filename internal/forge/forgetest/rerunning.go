package forgetest

import (
	"errors"
	"slices"
	"testing"

	"signalbox/internal/forge"
)

// red opens a change on whose head two jobs failed.
func (p *project) red(t *testing.T) forge.PullRequest {
	t.Helper()
	if p.CI == nil {
		t.Skip("the forge has no CI")
	}
	pr := p.open(t, p.change(t, 1, map[string]string{"a": "1"}))
	p.CI.Fail(pr.Head, "lint")
	p.CI.Fail(pr.Head, "test")
	check, err := p.forge.Checks(t.Context(), pr.Number)
	if err != nil || check.State != forge.CheckFailed || !check.Rerunnable || check.Server != "lint, test" {
		t.Fatalf("check is %+v, %v", check, err)
	}
	return pr
}

// wantRerun wants both jobs to run a second time, and to be judged by that.
func (p *project) wantRerun(t *testing.T, pr forge.PullRequest) {
	t.Helper()
	check := func(want forge.CheckState, pending bool) {
		t.Helper()
		got, err := p.forge.Checks(t.Context(), pr.Number)
		if errors.Is(err, forge.ErrPending) != pending || !pending && (err != nil || got.State != want || got.Rerunnable) {
			t.Errorf("check is %+v, %v, want %q", got, err, want)
		}
	}
	wantJobs := func() {
		t.Helper()
		jobs, err := p.Open(t).(forge.Rerunner).Rerun(t.Context(), pr.Number, pr.Head)
		if err != nil || !slices.Equal(jobs, []string{"lint", "test"}) || p.CI.Starts("lint") != 2 || p.CI.Starts("test") != 2 {
			t.Errorf("%q run again, %v; started %d and %d times", jobs, err, p.CI.Starts("lint"), p.CI.Starts("test"))
		}
	}
	wantJobs()
	check("", true)
	p.CI.End("lint", false)
	p.CI.End("test", true)
	check(forge.CheckFailed, false)
	wantJobs()
}

func lostRerun(t *testing.T, p *project) {
	atEveryAnswer(t, p, func(t *testing.T, p *project, lose func(Operation)) {
		pr := p.red(t)
		lose(Operation{Rerun: &Rerun{pr.Number, pr.Head}})
		p.wantRerun(t, pr)
	})
}

func killedRerun(t *testing.T, p *project) {
	atEveryInstant(t, p, func(t *testing.T, p *project, kill func(Operation) bool) {
		pr := p.red(t)
		kill(Operation{Rerun: &Rerun{pr.Number, pr.Head}})
		p.wantRerun(t, pr)
	})
}
