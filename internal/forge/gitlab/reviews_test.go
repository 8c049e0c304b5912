package gitlab_test

import (
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/gitlab/gitlabtest"
)

func TestAnApprovalIsOfTheVersionThatWasThere(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	p := propose(t, s, driver, "topic")
	var first time.Time
	s.With(func(st *gitlabtest.State) { st.Now = st.Now.Add(time.Minute); first = st.Now })
	second := s.Commit("topic", map[string]string{"b": "1"})
	must(driver.Proposal(t.Context(), p.Number))(t)
	s.With(func(st *gitlabtest.State) {
		st.Now = st.Now.Add(time.Minute)
		m := st.Merges[1]
		m.Approvals = []gitlabtest.Approval{{By: "grace", At: first}, {By: "ada", At: st.Now}, {By: "old"}, {By: "early", At: first.Add(-time.Hour)}}
		m.Requested = []string{"mallory", "ada"}
	})
	want := map[string]forge.Review{
		"grace": {State: forge.Approved, Commit: p.Head}, "ada": {State: forge.Approved, Commit: second}, "old": {State: forge.Approved},
		"early": {State: forge.Approved}, "mallory": {State: forge.ChangesWanted},
	}
	got := must(driver.Reviews(t.Context(), p.Number))(t)
	for _, r := range got {
		if w := want[r.Author]; w.State != r.State || w.Commit != r.Commit {
			t.Errorf("%s: the review is %+v, want %+v", r.Author, r, w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("the reviews are %+v", got)
	}
	_, err := driver.Reviews(t.Context(), 99)
	wantIs(t, err, forge.ErrNotFound)
}

func TestThreadsAreAnsweredAndResolved(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	p := propose(t, s, driver, "topic")
	s.Add(gitlabtest.Note{Pull: true, Number: p.Number, Author: "grace", Body: "in general"})
	on := gitlabtest.Note{Pull: true, Number: p.Number, Author: "grace", Body: "why?", Type: "DiffNote", Discussion: "abc", Head: p.Head, Path: "topic", Line: 3}
	s.Add(on)
	on.Discussion, on.Head = "gone", s.Head("main")
	s.Add(on)
	s.Add(gitlabtest.Note{Pull: true, Number: p.Number, Author: "grace", Body: "changed this line", Type: "DiffNote", Discussion: "abc", System: true})
	threads := must(driver.Threads(t.Context(), p.Number))(t)
	if len(threads) != 2 || threads[0].ID != "abc" || threads[0].Path != "topic" || threads[0].Line != 3 || threads[0].Resolved || len(threads[0].Remarks) != 1 || threads[1].Line != 0 {
		t.Fatalf("the threads are %+v", threads)
	}
	ok(t, driver.Answer(t.Context(), p.Number, threads[0], "because", true))
	ok(t, driver.Answer(t.Context(), p.Number, threads[1], "", false))
	threads = must(driver.Threads(t.Context(), p.Number))(t)
	s.Add(gitlabtest.Note{Pull: true, Number: p.Number, Author: gitlabtest.Robot, Body: "x", Type: "DiffNote", Discussion: "bots", Head: p.Head})
	if r := must(driver.Threads(t.Context(), p.Number))(t)[2].Remarks; r[0].ByBot {
		t.Errorf("a name makes a program of %+v", r[0])
	}
	if r := threads[0].Remarks; !threads[0].Resolved || len(r) != 2 || r[1].Body != "because" || r[1].Author != gitlabtest.Person || r[1].On != forge.OnPull(p.Number) || threads[1].Resolved {
		t.Errorf("the threads are %+v", threads)
	}
	if remarks := must(driver.Remarks(t.Context(), forge.OnPull(p.Number)))(t); len(remarks) != 1 || remarks[0].Body != "in general" {
		t.Errorf("the remarks are %+v", remarks)
	}
	wantIs(t, driver.Answer(t.Context(), p.Number, forge.Thread{ID: "none"}, "x", true), forge.ErrNotFound)
}
