package github_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/store"
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

func TestWhatGitHubLinksIsRead(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	parent, part, other, elsewhere := s.Issue("Parent", ""), s.Issue("Part", ""), s.Issue("Other", ""), s.Issue("Elsewhere", "")
	s.Requests()
	if got := must(driver.Links(t.Context(), part))(t); got.Parent != 0 || got.Parts != nil || got.Needs != nil || len(s.Requests()) != 1 {
		t.Errorf("an issue alone has %+v", got)
	}
	s.With(func(st *githubtest.State) {
		st.Issues[parent].Parts, st.Issues[part].BlockedBy = []int{part, elsewhere}, []int{other, elsewhere}
		st.Issues[elsewhere].Transferred = "octo-org/other"
	})
	got := must(driver.Links(t.Context(), parent))(t)
	if got.Parent != 0 || len(got.Parts) != 2 || got.Parts[0].Number != part || got.Parts[0].Title != "Part" || got.Parts[1].Number != 0 || got.Parts[1].Page == "" {
		t.Errorf("the parent has %+v", got)
	}
	if got := must(driver.Links(t.Context(), part))(t); got.Parent != parent || !slices.Equal(got.Needs, []int{other}) {
		t.Errorf("the part has %+v", got)
	}
	_, err := driver.Links(t.Context(), 99)
	wantIs(t, err, forge.ErrNotFound)
}

// cutOff is a connection that breaks after some calls that change something: before the next one, or once that is performed.
type cutOff struct {
	left       int
	lose, over bool
}

func (c *cutOff) RoundTrip(r *http.Request) (*http.Response, error) {
	changes := r.Method != http.MethodGet
	cut := c.over || changes && c.left == 0
	if cut && (c.over || !c.lose) {
		c.over = true
		return nil, errors.New("the connection is gone")
	}
	if changes {
		c.left--
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if cut && err == nil {
		c.over = true
		return nil, errors.Join(answer.Body.Close(), errors.New("the answer is lost"))
	}
	return answer, err
}

// A run closes an issue that is the last open part of another, which is the last one of a third. It's cut off at each call, and repeated: each is
// closed once, with one comment that names its parts.
func TestAParentIsClosedOnceWithTheLastOfItsParts(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	documents := must(store.Open(t.Context(), store.Config{Root: t.TempDir()}))(t)
	for cut, done := 0, false; !done; cut++ {
		top, parent, first, last, open := s.Issue("Top", ""), s.Issue("Parent", ""), s.Issue("First @ada", ""), s.Issue("Last", ""), s.Issue("Open", "")
		s.With(func(st *githubtest.State) {
			st.Issues[top].Parts, st.Issues[parent].Parts = []int{parent}, []int{first, last, open}
		})
		closes := func(over http.RoundTripper, number int) error {
			return hosted.New(hosted.Config{Server: must(driverAt(s.URL, over))(t), Store: documents, Clock: time.Now}).CloseRequest(t.Context(), forge.Request{Number: number}, "")
		}
		ok(t, closes(http.DefaultTransport, first))
		ok(t, closes(http.DefaultTransport, open))
		s.With(func(st *githubtest.State) {
			if st.Issues[parent].Closed || !st.Issues[first].Closed {
				t.Fatalf("with a part that is open, the parent is %+v", st.Issues[parent])
			}
		})
		done = closes(&cutOff{left: cut / 2, lose: cut%2 == 1}, last) == nil
		ok(t, closes(http.DefaultTransport, last))
		s.With(func(st *githubtest.State) {
			said := map[int][]string{}
			for _, c := range st.Comments {
				said[c.Number] = append(said[c.Number], c.Body)
			}
			if !st.Issues[top].Closed || !st.Issues[parent].Closed || len(said[parent]) != 1 || len(said[top]) != 1 || len(said[last]) != 0 {
				t.Errorf("cut off at %d, the issues are %+v and %+v, with the comments %v", cut, st.Issues[top], st.Issues[parent], said)
			} else if body := said[parent][0]; !strings.Contains(body, "All parts of this issue are done:") || !strings.Contains(body, "Last") || strings.Contains(body, "@ada") {
				t.Errorf("the comment is %q", body)
			}
		})
	}
}
