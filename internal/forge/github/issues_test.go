package github_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/github/githubtest"
)

func TestIssueIsWhatGitHubHas(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	number := s.Issue("Count", "One <more>\r\n", "bug", "p1")
	got := must(driver.Issue(t.Context(), number))(t)
	if got.Number != number || got.Title != "Count" || got.Body != "One <more>\r\n" || got.Author != "ada" || got.Closed ||
		!slices.Equal(got.Labels, []string{"bug", "p1"}) || got.Page != fmt.Sprintf("%s/octo-org/engine/issues/%d", s.URL, number) || got.UpdatedAt.IsZero() {
		t.Errorf("the issue is %+v", got)
	}
	for range 2 {
		ok(t, driver.CloseIssue(t.Context(), number))
	}
	if got := must(driver.Issue(t.Context(), number))(t); !got.Closed {
		t.Error("the closed issue is open")
	}
}

func TestWhatIsNoIssueHereIsNotFound(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	gone, elsewhere, pull := s.Issue("a", ""), s.Issue("b", ""), propose(t, s, driver, "topic").Number
	s.With(func(st *githubtest.State) {
		st.Issues[gone].Gone = true
		st.Issues[elsewhere].Transferred = "octo-org/other"
	})
	for name, number := range map[string]int{"none": 99, "deleted": gone, "transferred": elsewhere, "a pull request": pull} {
		_, err := driver.Issue(t.Context(), number)
		if wantIs(t, err, forge.ErrNotFound); err == nil {
			t.Errorf("%s is found", name)
		}
	}
	wantIs(t, driver.CloseIssue(t.Context(), gone), forge.ErrNotFound)
}

func TestIssuesAreThoseThatMatchNewestFirst(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	for i := range 120 {
		s.Issue(fmt.Sprintf("Issue %d", i), "text", []string{"even", "odd"}[i%2])
	}
	propose(t, s, driver, "topic")
	s.With(func(st *githubtest.State) {
		st.Issues[1].Closed, st.Issues[2].Milestone, st.Issues[3].Assignee, st.Issues[4].Author = true, `the "first" one`, "grace", "mallory"
		st.Issues[5].Title = "a needle"
	})
	for name, c := range map[string]struct {
		query        forge.Query
		limit, count int
		first        int
	}{
		"all":         {forge.Query{State: "all"}, 500, 120, 120},
		"open":        {forge.Query{}, 500, 119, 120},
		"closed":      {forge.Query{State: "closed"}, 500, 1, 1},
		"limit":       {forge.Query{}, 105, 105, 120},
		"none":        {forge.Query{}, 0, 0, 0},
		"label":       {forge.Query{Labels: []string{"odd"}}, 500, 60, 120},
		"assignee":    {forge.Query{Assignee: "grace"}, 500, 1, 3},
		"author":      {forge.Query{Author: "mallory"}, 500, 1, 4},
		"text":        {forge.Query{Text: "needle"}, 500, 1, 5},
		"milestone":   {forge.Query{Milestone: `the "first" one`}, 500, 1, 2},
		"no label":    {forge.Query{Labels: []string{"nope"}}, 500, 0, 0},
		"no such":     {forge.Query{Milestone: "nope"}, 500, 0, 0},
		"elsewhere":   {forge.Query{Text: "foreign repo:other/one", State: "all"}, 500, 0, 0},
		"text, label": {forge.Query{Text: "issue", Labels: []string{"even"}, State: "all"}, 500, 59, 119},
	} {
		got, err := driver.Issues(t.Context(), c.query, c.limit)
		if err != nil || len(got) != c.count || len(got) > 0 && got[0].Number != c.first {
			t.Errorf("%s: %d issues from %v, %v; want %d from %d", name, len(got), got[:min(1, len(got))], err, c.count, c.first)
		}
	}
}

func TestRemarksAreOldestFirstAndTellWhoWrote(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	number := s.Issue("Count", "")
	for i := range 250 {
		s.Comment(number, "mallory", fmt.Sprint(i))
	}
	own := must(driver.CreateRemark(t.Context(), forge.OnIssue(number), "first words"))(t)
	ok(t, driver.EditRemark(t.Context(), forge.OnIssue(number), own.ID, "other words"))
	s.Comment(number, "helper[bot]", "I am a program")
	via := s.Comment(number, "grace", "by a program in my name")
	s.With(func(st *githubtest.State) { st.Comments[len(st.Comments)-1].Via = "assistant" })
	got := must(driver.Remarks(t.Context(), forge.OnIssue(number)))(t)
	if len(got) != 253 || got[0].Body != "0" || got[249].Body != "249" {
		t.Fatalf("there are %d comments", len(got))
	}
	if r := got[250]; r.ID != own.ID || r.Author != "ada" || r.Body != "other words" || !r.Edited || r.ByBot || !strings.HasPrefix(r.Page, s.URL) {
		t.Errorf("the own comment is %+v", r)
	}
	if r := got[251]; !r.ByBot || r.Author != "helper[bot]" || r.Edited {
		t.Errorf("a bot's comment is %+v", r)
	}
	if r := got[252]; r.ID != via || !r.ByBot {
		t.Errorf("a program's comment in a person's name is %+v", r)
	}
	wantIs(t, driver.EditRemark(t.Context(), forge.OnIssue(number), 1, "x"), forge.ErrNotFound)
	_, err := driver.Remarks(t.Context(), forge.OnIssue(99))
	wantIs(t, err, forge.ErrNotFound)
}

func TestACommentIsAcknowledgedAndMinimized(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	number := s.Issue("Count", "")
	id := s.Comment(number, "grace", "/signalbox run")
	for range 2 {
		ok(t, driver.Acknowledge(t.Context(), forge.Remark{ID: id}))
		ok(t, driver.Minimize(t.Context(), forge.Remark{ID: id}))
	}
	s.With(func(st *githubtest.State) {
		if c := st.Comments[0]; !slices.Equal(c.Reactions, []string{"ada eyes"}) || !c.Minimized {
			t.Errorf("the comment is %+v", c)
		}
	})
	wantIs(t, driver.Minimize(t.Context(), forge.Remark{ID: 1}), forge.ErrNotFound)
}

func TestLabelsAreAddedAndRemovedOnce(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	number := s.Issue("Count", "", "bug", "Signalbox:Queued", "odd/?#")
	pull := propose(t, s, driver, "topic").Number
	s.Requests()
	for range 2 {
		ok(t, driver.Label(t.Context(), forge.OnIssue(number), []string{"signalbox:running", "bug"}, []string{"signalbox:queued", "odd/?#", "never there"}))
	}
	ok(t, driver.Label(t.Context(), forge.OnPull(pull), []string{"signalbox:running"}, nil))
	if got := must(driver.Issue(t.Context(), number))(t).Labels; !slices.Equal(got, []string{"bug", "signalbox:running"}) {
		t.Errorf("the labels are %q", got)
	}
	writes := 0
	for _, r := range s.Requests() {
		if !strings.HasPrefix(r.Line, "GET") {
			writes++
		}
	}
	if writes != 4 {
		t.Errorf("%d calls write, want 4: three on the issue, once, and one on the pull request", writes)
	}
}
