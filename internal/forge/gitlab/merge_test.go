package gitlab_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/gitlab"
	"signalbox/internal/forge/gitlab/gitlabtest"
	"signalbox/internal/forge/hostedtest"
)

// propose opens a merge request of a branch with one commit.
func propose(t *testing.T, s *gitlabtest.Server, driver *gitlab.Server, branch string) forge.Proposal {
	t.Helper()
	s.Commit(branch, map[string]string{branch: "1"})
	return must(driver.Propose(t.Context(), forge.Proposal{Title: "Change", Body: "why", Branch: branch, Base: "main"}))(t)
}

func TestAMergeRequestLivesUntilItIsMerged(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	p := propose(t, s, driver, "signalbox/1-a")
	if p.Number != 1 || p.State != forge.Open || p.Head != s.Head("signalbox/1-a") || p.Base != "main" || p.Branch != "signalbox/1-a" || p.Draft || p.MergeCommit != "" {
		t.Errorf("opened as %+v", p)
	}
	_, err := driver.Propose(t.Context(), p)
	wantIs(t, err, forge.ErrExists)
	for _, title := range []string{"Draft: of a law", "[WIP] x", "(draft) y", "plain"} {
		for _, draft := range []bool{true, false} {
			p.Title, p.Draft = title, draft
			ok(t, driver.EditProposal(t.Context(), p))
			if got := must(driver.Proposal(t.Context(), p.Number))(t); got.Draft != draft || got.Title != title {
				t.Errorf("%q as a draft (%t) is %+v", title, draft, got)
			}
		}
	}
	ok(t, driver.MergeProposal(t.Context(), p.Number, p.Head, "Merge it\n\nBecause."))
	ok(t, driver.MergeProposal(t.Context(), p.Number, p.Head, "again"))
	got := must(driver.ProposalOf(t.Context(), "", "signalbox/1-a"))(t)
	if got.State != forge.Merged || got.MergeCommit != s.Head("main") || got.MergedAt == nil || s.MustRun("", "log", "-1", "--format=%B", "main") != "Merge it\n\nBecause." {
		t.Errorf("merged as %+v", got)
	}
	closed := propose(t, s, driver, "other")
	ok(t, driver.CloseProposal(t.Context(), closed.Number))
	ok(t, driver.CloseProposal(t.Context(), closed.Number))
	var f *forge.Failure
	if err := driver.MergeProposal(t.Context(), closed.Number, closed.Head, "m"); !errors.As(err, &f) || f.Kind != forge.Refused {
		t.Errorf("a closed one is merged: %v", err)
	}
}

func TestTheNewestMergeRequestOfABranchIsNoForks(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	first := propose(t, s, driver, "topic")
	ok(t, driver.CloseProposal(t.Context(), first.Number))
	second := must(driver.Propose(t.Context(), forge.Proposal{Title: "Again", Branch: "topic", Base: "main"}))(t)
	s.With(func(st *gitlabtest.State) {
		st.Merges[3] = &gitlabtest.MergeRequest{Title: "Fork", Branch: "topic", Base: "main", From: 99, Head: first.Head, State: "opened"}
	})
	if got := must(driver.ProposalOf(t.Context(), "", "topic"))(t); got.Number != second.Number {
		t.Errorf("found %+v", got)
	}
	_, err := driver.ProposalOf(t.Context(), "", "none")
	wantIs(t, err, forge.ErrNotFound)
	_, err = driver.Proposal(t.Context(), 99)
	wantIs(t, err, forge.ErrNotFound)
}

func TestAFastForwardIsMergedByItsHead(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	p := propose(t, s, driver, "topic")
	for want, change := range map[string]func(*gitlabtest.MergeRequest){
		p.Head:        func(m *gitlabtest.MergeRequest) { m.State = "merged" },
		"squashed-it": func(m *gitlabtest.MergeRequest) { m.State, m.Squash = "merged", "squashed-it" },
	} {
		s.With(func(st *gitlabtest.State) { st.Merges[1].Squash = ""; change(st.Merges[1]) })
		if got := must(driver.Proposal(t.Context(), p.Number))(t); got.State != forge.Merged || got.MergeCommit != want {
			t.Errorf("merged as %+v, want by %s", got, want)
		}
	}
}

// What GitLab refuses to merge stays unmerged, and the error says what can be done.
func TestRefusedMergesSayWhatCanBeDone(t *testing.T) {
	t.Parallel()
	failure := errors.New("a failure")
	for name, c := range map[string]struct {
		prepare func(s *gitlabtest.Server, st *gitlabtest.State)
		// later happens after GitLab was asked how the merge request stands.
		later *gitlabtest.Fault
		want  error
		kind  forge.FailureKind
	}{
		"pipeline":     {prepare: func(_ *gitlabtest.Server, st *gitlabtest.State) { st.Merges[1].Standing = "ci_still_running" }, want: forge.ErrNotReady},
		"approval":     {prepare: func(_ *gitlabtest.Server, st *gitlabtest.State) { st.Merges[1].Standing = "not_approved" }, want: forge.ErrNotReady},
		"threads":      {prepare: func(_ *gitlabtest.Server, st *gitlabtest.State) { st.Merges[1].Standing = "discussions_not_resolved" }, want: forge.ErrNotReady},
		"unknown word": {prepare: func(_ *gitlabtest.Server, st *gitlabtest.State) { st.Merges[1].Standing = "of_the_future" }, want: forge.ErrNotReady},
		"rebase":       {prepare: func(_ *gitlabtest.Server, st *gitlabtest.State) { st.Merges[1].Standing = "need_rebase" }, want: forge.ErrConflict},
		"conflict":     {prepare: func(s *gitlabtest.Server, _ *gitlabtest.State) { s.Commit("main", map[string]string{"topic": "2"}) }, want: forge.ErrConflict},
		"computing":    {prepare: func(_ *gitlabtest.Server, st *gitlabtest.State) { st.Merges[1].Standing = "checking" }, want: forge.ErrNotReady},
		"head":         {prepare: func(s *gitlabtest.Server, _ *gitlabtest.State) { s.Commit("topic", map[string]string{"topic": "3"}) }, want: forge.ErrHeadMoved},
		"head, late":   {later: &gitlabtest.Fault{Status: 409, Body: `{"message":"SHA does not match HEAD of source branch: 1"}`}, want: forge.ErrHeadMoved},
		"406":          {later: &gitlabtest.Fault{Status: 406, Body: `{"message":"Branch cannot be merged"}`}, want: forge.ErrNotReady},
		"protected":    {prepare: func(_ *gitlabtest.Server, st *gitlabtest.State) { st.Protected["main"] = 60 }, want: failure, kind: forge.Forbidden},
		"400":          {later: &gitlabtest.Fault{Status: 400, Body: `{"message":"no"}`}, want: failure, kind: forge.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, driver := start(t)
			p := propose(t, s, driver, "topic")
			if c.prepare != nil {
				s.With(func(st *gitlabtest.State) { c.prepare(s, st) })
			}
			if c.later != nil {
				c.later.Method, c.later.Path = http.MethodPut, "/merge"
				s.Inject(*c.later)
			}
			base := s.Head("main")
			err := driver.MergeProposal(t.Context(), p.Number, p.Head, "m")
			var f *forge.Failure
			if c.want == failure {
				if !errors.As(err, &f) || f.Kind != c.kind {
					t.Errorf("the error is %v, want one of kind %s", err, c.kind)
				}
			} else {
				wantIs(t, err, c.want)
			}
			if s.Head("main") != base {
				t.Error("it was merged")
			}
		})
	}
}

// The head may move after the driver looked at it: GitLab itself is told which one to merge.
func TestAHeadThatMovesInTheLastMomentIsNotMerged(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	p := propose(t, s, driver, "topic")
	arrived, moved := make(chan struct{}), make(chan struct{})
	s.Inject(gitlabtest.Fault{Method: http.MethodPut, Path: "/merge", Arrived: arrived, Wait: moved})
	result := make(chan error, 1)
	go func() { result <- driver.MergeProposal(t.Context(), p.Number, p.Head, "m") }()
	<-arrived
	base := s.Head("main")
	s.Commit("topic", map[string]string{"topic": "untested"})
	close(moved)
	wantIs(t, <-result, forge.ErrHeadMoved)
	if s.Head("main") != base {
		t.Error("the untested head was merged")
	}
}

func TestATrainTakesOnlyTheTestedHead(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	p := propose(t, s, driver, "topic")
	aboard := func(want bool) {
		t.Helper()
		if got := must(driver.Queued(t.Context(), p.Number))(t); got != want {
			t.Errorf("it is on the train: %t", got)
		}
	}
	aboard(false)
	ok(t, driver.Enqueue(t.Context(), p.Number, p.Head))
	aboard(true)
	ok(t, driver.Enqueue(t.Context(), p.Number, p.Head)) // the answer may have been lost
	s.With(func(st *gitlabtest.State) { st.Merges[p.Number].Train = "merged" })
	aboard(false)
	wantIs(t, driver.Enqueue(t.Context(), p.Number, s.Head("main")), forge.ErrHeadMoved)
	wantIs(t, driver.Enqueue(t.Context(), 99, p.Head), forge.ErrNotFound)
}

func TestATrainMergesWhatPassed(t *testing.T) {
	t.Parallel()
	s := gitlabtest.New(t)
	s.With(func(st *gitlabtest.State) { st.Settings["merge_trains_enabled"] = true })
	h := harness(t, s, driverAt, "", s.Repository, 1)
	change := forge.PullRequest{Key: "run-1", Request: "1", Title: "Change", Branch: "signalbox/1-a", Base: "main", Head: s.Commit("elsewhere", map[string]string{"a": "1"})}
	hostedtest.Git(t, h.Project, "fetch", "--quiet", "origin", "elsewhere")
	f := h.Open(t)
	pr := must(f.OpenPullRequest(t.Context(), change))(t)
	check := must(f.Checks(t.Context(), pr.Number))(t)
	for range 2 {
		if _, err := h.Open(t).Merge(t.Context(), pr.Number, check, "m"); !errors.Is(err, forge.ErrPending) {
			t.Fatalf("on the train, it gives %v", err)
		}
	}
	s.MergeTrain(pr.Number)
	merged := must(h.Open(t).Merge(t.Context(), pr.Number, check, "m"))(t)
	if merged.State != forge.Merged || merged.MergeCommit != s.Head("main") {
		t.Errorf("merged as %+v", merged)
	}
}

func TestTheProtectionOfABranchIsRead(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	required := func(want forge.Requirements) {
		t.Helper()
		got := must(driver.Required(t.Context(), "main"))(t)
		if got.Approvals != want.Approvals || got.PushRefused != want.PushRefused || got.Queue != want.Queue || got.Unknown != want.Unknown || strings.Join(got.Verdicts, "|") != strings.Join(want.Verdicts, "|") {
			t.Errorf("required is %+v, want %+v", got, want)
		}
	}
	required(forge.Requirements{})
	s.With(func(st *gitlabtest.State) { st.RulesStatus = http.StatusForbidden })
	required(forge.Requirements{}) // a plan without rules
	s.With(func(st *gitlabtest.State) { st.Settings["approvals_before_merge"] = 0 })
	required(forge.Requirements{Unknown: true})
	s.With(func(st *gitlabtest.State) {
		st.RulesStatus, st.Protected["main"] = 0, 60
		st.Settings["only_allow_merge_if_pipeline_succeeds"], st.Settings["merge_trains_enabled"] = true, true
		rule := func(required int, protected bool, branches ...string) map[string]any {
			names := []any{}
			for _, name := range branches {
				names = append(names, map[string]any{"name": name})
			}
			return map[string]any{"approvals_required": required, "applies_to_all_protected_branches": protected, "protected_branches": names}
		}
		st.Rules = []map[string]any{rule(1, false), rule(2, true), rule(9, false, "release"), rule(3, false, "ma*")}
	})
	required(forge.Requirements{Approvals: 3, PushRefused: true, Queue: true, Verdicts: []string{"GitLab pipeline"}})
	s.With(func(st *gitlabtest.State) { st.Rules = st.Rules[:3] })
	required(forge.Requirements{Approvals: 2, PushRefused: true, Queue: true, Verdicts: []string{"GitLab pipeline"}})
	_, err := driver.Required(t.Context(), "not/there")
	wantIs(t, err, forge.ErrNotFound)
}
