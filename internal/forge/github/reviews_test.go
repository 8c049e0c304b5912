package github_test

import (
	"fmt"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/github/githubtest"
)

func TestTheLatestJudgementOfEachPersonCounts(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	p := propose(t, s, driver, "topic")
	for _, r := range [][3]string{
		{"grace", "CHANGES_REQUESTED", "no"}, {"grace", "APPROVED", "yes"}, {"grace", "COMMENTED", "by the way"},
		{"mallory", "COMMENTED", "hm"}, {"mallory", "COMMENTED", "hmm"},
		{"linus", "APPROVED", "yes"}, {"linus", "DISMISSED", "taken back"},
		{"ada", "PENDING", "unsent"},
	} {
		s.Review(p.Number, r[0], r[1], r[2])
	}
	head := s.Commit("topic", map[string]string{"more": "1"})
	s.Review(p.Number, "barbara", "CHANGES_REQUESTED", "not this")
	got := must(driver.Reviews(t.Context(), p.Number))(t)
	want := []struct {
		author, body, commit string
		state                forge.ReviewState
	}{
		{"grace", "yes", p.Head, forge.Approved}, {"mallory", "hmm", p.Head, forge.Commented}, {"linus", "taken back", p.Head, forge.Commented},
		{"barbara", "not this", head, forge.ChangesWanted},
	}
	for i, w := range want {
		if len(got) != len(want) || got[i].Author != w.author || got[i].Body != w.body || got[i].Commit != w.commit || got[i].State != w.state || got[i].At.IsZero() {
			t.Fatalf("the reviews are %+v, want %+v", got, want)
		}
	}
	_, err := driver.Reviews(t.Context(), 99)
	wantIs(t, err, forge.ErrNotFound)
}

func TestThreadsAreReadAnsweredAndResolved(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	p := propose(t, s, driver, "topic")
	s.With(func(st *githubtest.State) {
		for i := range 120 {
			st.Pulls[p.Number].Threads = append(st.Pulls[p.Number].Threads, &githubtest.Thread{
				ID: fmt.Sprint("PRRT_", i), Path: "a.go", Line: i + 1, Outdated: i == 1,
				Comments: []*githubtest.ThreadComment{{ID: 5_000_000_000 + int64(i), Author: "grace", Body: "why?", At: st.Now}},
			})
		}
		first := st.Pulls[p.Number].Threads[0]
		first.Comments = append(first.Comments, &githubtest.ThreadComment{ID: 6, Author: "helper[bot]", Body: "because", At: st.Now, Edited: &st.Now},
			&githubtest.ThreadComment{ID: 7, Body: "by an account that is gone", At: st.Now})
	})
	got := must(driver.Threads(t.Context(), p.Number))(t)
	if len(got) != 120 || got[0].ID != "PRRT_0" || got[0].Path != "a.go" || got[0].Line != 1 || got[1].Line != 0 || got[119].Line != 120 {
		t.Fatalf("there are %d threads", len(got))
	}
	if r := got[0].Remarks; len(r) != 3 || r[0].ID != 5_000_000_000 || r[0].ByBot || r[1].Author != "helper[bot]" || !r[1].ByBot || !r[1].Edited || r[2].Author != "" {
		t.Errorf("the comments are %+v", r)
	}
	ok(t, driver.Answer(t.Context(), p.Number, got[0], "done", true))
	ok(t, driver.Answer(t.Context(), p.Number, got[1], "not yet", false))
	ok(t, driver.Answer(t.Context(), p.Number, got[2], "", true))
	got = must(driver.Threads(t.Context(), p.Number))(t)
	if r := got[0]; !r.Resolved || len(r.Remarks) != 4 || r.Remarks[3].Body != "done" || r.Remarks[3].Author != "ada" {
		t.Errorf("the answered thread is %+v", r)
	}
	if got[1].Resolved || len(got[1].Remarks) != 2 || !got[2].Resolved || len(got[2].Remarks) != 1 {
		t.Errorf("the others are %+v and %+v", got[1], got[2])
	}
	_, err := driver.Threads(t.Context(), 99)
	wantIs(t, err, forge.ErrNotFound)
	wantIs(t, driver.Answer(t.Context(), p.Number, forge.Thread{ID: "none"}, "x", true), forge.ErrNotFound)
}
