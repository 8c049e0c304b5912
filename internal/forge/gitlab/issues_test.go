package gitlab_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/gitlab"
	"signalbox/internal/forge/gitlab/gitlabtest"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/store"
)

func TestIssuesAreFoundByWhatTheyHave(t *testing.T) {
	t.Parallel()
	s := gitlabtest.NewBelow(t, "/code/gitlab")
	driver := open(t, s, "glpat-ada", gitlab.PrivateToken)
	first := s.Issue("Count", "down", "bug", "area::web")
	s.Issue("Sing", "")
	own := must(driver.CreateIssue(t.Context(), "Dance", "to it"))(t)
	ok(t, driver.CloseIssue(t.Context(), own.Number))
	ok(t, driver.CloseIssue(t.Context(), own.Number))
	for name, c := range map[string]struct {
		query forge.Query
		want  []int
	}{
		"open":   {forge.Query{}, []int{2, 1}},
		"closed": {forge.Query{State: "closed"}, []int{3}},
		"all":    {forge.Query{State: "all"}, []int{3, 2, 1}},
		"labels": {forge.Query{Labels: []string{"bug", "area::web"}}, []int{1}},
		"author": {forge.Query{State: "all", Author: gitlabtest.Person}, []int{3}},
		"text":   {forge.Query{Text: "down"}, []int{1}},
		"none":   {forge.Query{Labels: []string{"bug", "other"}}, nil},
	} {
		var got []int
		for _, i := range must(driver.Issues(t.Context(), c.query, 10))(t) {
			got = append(got, i.Number)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: found %v, want %v", name, got, c.want)
		}
	}
	got := must(driver.Issue(t.Context(), first))(t)
	if got.Title != "Count" || got.Body != "down" || got.Author != "grace" || got.Closed || !slices.Equal(got.Labels, []string{"bug", "area::web"}) ||
		got.Page != s.URL+"/"+gitlabtest.Path+"/-/issues/1" || !strings.Contains(got.Page, "/code/gitlab/octo/tools/engine/") {
		t.Errorf("the issue is %+v", got)
	}
	s.With(func(st *gitlabtest.State) { st.Issues[2].MovedTo = 77 })
	for _, number := range []int{2, 99} {
		_, err := driver.Issue(t.Context(), number)
		wantIs(t, err, forge.ErrNotFound)
	}
}

func TestIssuesAreReadPageByPageToTheLimit(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	for i := range 250 {
		s.Issue(fmt.Sprint(i), "")
	}
	s.Requests()
	for limit, pages := range map[int]int{1: 1, 100: 1, 101: 2, 500: 3} {
		got := must(driver.Issues(t.Context(), forge.Query{}, limit))(t)
		if len(got) != min(limit, 250) || got[0].Number != 250 || len(s.Requests()) != pages {
			t.Errorf("with limit %d, %d are found", limit, len(got))
		}
	}
	s.With(func(st *gitlabtest.State) { st.Keyset = true })
	if got := must(driver.Issues(t.Context(), forge.Query{}, 500))(t); len(got) != 250 || got[249].Number != 1 {
		t.Errorf("by keys, %d are found", len(got))
	}
}

func TestRemarksAreOldestFirstWithoutWhatGitLabNotes(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	number := s.Issue("Count", "")
	for i := range 150 {
		s.Note(number, "mallory", fmt.Sprint(i))
	}
	s.Add(gitlabtest.Note{Number: number, Author: "grace", Body: "added ~bug label", System: true})
	s.Add(gitlabtest.Note{Number: number, Author: "grace", Body: "a secret among members", Internal: true})
	s.Note(number, gitlabtest.Robot, "I am a program")
	got := must(driver.Remarks(t.Context(), forge.OnIssue(number)))(t)
	if len(got) != 151 || got[0].Body != "0" || got[149].Body != "149" || got[0].ByBot || got[0].Edited {
		t.Fatalf("there are %d comments, the first is %+v", len(got), got[0])
	}
	if r := got[150]; !r.ByBot || r.Author != gitlabtest.Robot {
		t.Errorf("a bot's comment is %+v", r)
	}
	wantIs(t, driver.EditRemark(t.Context(), forge.OnIssue(number), 1, "x"), forge.ErrNotFound)
	wantIs(t, driver.EditRemark(t.Context(), forge.OnPull(number), got[0].ID, "x"), forge.ErrNotFound)
	_, err := driver.Remarks(t.Context(), forge.OnIssue(99))
	wantIs(t, err, forge.ErrNotFound)
}

// The hundredth comment fills the first page, and the next one changes nothing of it but where the list goes on.
func TestACommentAfterAFullPageIsSeen(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	number := s.Issue("Count", "")
	for i := range 101 {
		if got := must(driver.Remarks(t.Context(), forge.OnIssue(number)))(t); i > 98 && len(got) != i {
			t.Errorf("of %d comments, %d are found", i, len(got))
		}
		s.Note(number, "grace", "more")
	}
	if got := must(driver.Remarks(t.Context(), forge.OnIssue(number)))(t); len(got) != 101 {
		t.Errorf("of 101 comments, %d are found", len(got))
	}
}

func TestACommentIsAcknowledgedOnce(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	number := s.Issue("Count", "")
	remark := forge.Remark{On: forge.OnIssue(number), ID: s.Note(number, "grace", "/signalbox run")}
	ok(t, driver.Acknowledge(t.Context(), remark))
	ok(t, driver.Acknowledge(t.Context(), remark))
	s.With(func(st *gitlabtest.State) {
		if n := st.Notes[0]; !slices.Equal(n.Awards, []string{gitlabtest.Person + " eyes"}) {
			t.Errorf("the note has %q", n.Awards)
		}
	})
	wantIs(t, driver.Acknowledge(t.Context(), forge.Remark{On: forge.OnIssue(number), ID: 1}), forge.ErrNotFound)
}

func TestLabelsAreAddedAndTakenInOneCall(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	number := s.Issue("Count", "", "bug", "signalbox:queued")
	s.Requests()
	for range 2 {
		ok(t, driver.Label(t.Context(), forge.OnIssue(number), []string{"signalbox:running", "bug"}, []string{"signalbox:queued", "never there"}))
	}
	ok(t, driver.Label(t.Context(), forge.OnIssue(number), nil, nil))
	if asked := s.Requests(); len(asked) != 2 {
		t.Errorf("%d calls were made, want 2", len(asked))
	}
	if got := must(driver.Issue(t.Context(), number))(t).Labels; !slices.Equal(got, []string{"bug", "signalbox:running"}) {
		t.Errorf("the labels are %q", got)
	}
}

func TestWhoMayDoWhatIsReadFromGitLab(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	want := forge.Repository{Path: gitlabtest.Path, Page: s.URL + "/" + gitlabtest.Path, DefaultBranch: "main", MayPush: true, MayMerge: true, Methods: []string{"merge"}, SeesPushes: true}
	for _, hidden := range []bool{false, true} { // by invitation, the project doesn't say the level
		s.With(func(st *gitlabtest.State) { st.Hidden = hidden })
		if got := must(driver.Repository(t.Context()))(t); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the repository is %+v, want %+v", got, want)
		}
		if got := must(open(t, s, "glpat-mallory", gitlab.PrivateToken).Repository(t.Context()))(t); got.MayPush || got.MayMerge {
			t.Errorf("a Reporter may %+v", got)
		}
	}
	for settings, methods := range map[[2]string]string{{"merge", "never"}: "merge", {"merge", "always"}: "squash", {"ff", "default_on"}: "rebase", {"rebase_merge", "never"}: "rebase"} {
		s.With(func(st *gitlabtest.State) {
			st.Settings["merge_method"], st.Settings["squash_option"] = settings[0], settings[1]
		})
		if got := must(driver.Repository(t.Context()))(t); strings.Join(got.Methods, ",") != methods {
			t.Errorf("with %v, the methods are %v", settings, got.Methods)
		}
	}
	s.With(func(st *gitlabtest.State) { st.Settings["archived"] = true })
	if got := must(driver.Repository(t.Context()))(t); got.MayPush {
		t.Error("an archived project takes pushes")
	}
	for account, may := range map[string]bool{"ada": true, "GRACE": true, "mallory": false, "nobody": false, "ad": false} {
		if got := must(driver.MayWrite(t.Context(), account))(t); got != may {
			t.Errorf("%s may write: %t", account, got)
		}
	}
	if me := must(driver.Whoami(t.Context()))(t); me.Name != gitlabtest.Person || me.Bot {
		t.Errorf("we are %+v", me)
	}
	if me := must(open(t, s, "glpat-robot", gitlab.PrivateToken).Whoami(t.Context()))(t); !me.Bot {
		t.Errorf("a project's token is of %+v", me)
	}
}

func TestUnchangedAnswersAreReusedAndCallsCounted(t *testing.T) {
	t.Parallel()
	s := gitlabtest.New(t)
	driver, calls := openCounted(t, s, "glpat-ada", gitlab.PrivateToken)
	number := s.Issue("Count", "")
	for range 3 {
		must(driver.Issue(t.Context(), number))(t)
	}
	use := calls.Use()[0]
	if use.Hour.Calls["GET issues/*"] != 3 || use.Day.Unchanged != 2 || use.Limits["throttle_authenticated_api"].Limit != 2000 {
		t.Errorf("the use is %+v", use)
	}
	s.With(func(st *gitlabtest.State) { st.Issues[number].Title = "Other" })
	if got := must(driver.Issue(t.Context(), number))(t); got.Title != "Other" {
		t.Errorf("the issue is %+v", got)
	}
}

func TestWhatBlocksAnIssueIsRead(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	number, open, closed, elsewhere := s.Issue("Count", ""), s.Issue("Open", ""), s.Issue("Closed", ""), s.Issue("Elsewhere", "")
	s.With(func(st *gitlabtest.State) {
		st.Issues[closed].Closed, st.Issues[elsewhere].MovedTo = true, 77
		st.Issues[number].BlockedBy = []int{open, closed, elsewhere}
	})
	if got := must(driver.Links(t.Context(), number))(t); !slices.Equal(got.Needs, []int{open}) {
		t.Errorf("it needs %v", got.Needs)
	}
	_, err := driver.Links(t.Context(), 99)
	wantIs(t, err, forge.ErrNotFound)
}

func TestAParentIsClosedWithTheLastOfItsChildItems(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	parent, first, last, elsewhere, epic, alone := s.Issue("Parent", ""), s.Issue("First", ""), s.Issue("Last", ""), s.Issue("Elsewhere", ""), s.Issue("An epic", ""), s.Issue("Alone", "")
	s.With(func(st *gitlabtest.State) {
		st.Issues[elsewhere].MovedTo, st.Issues[elsewhere].Closed, st.Issues[epic].MovedTo = 77, true, 78
		st.Issues[parent].Parts, st.Issues[epic].Parts = []int{first, last, elsewhere}, []int{parent}
		for range 101 {
			st.Issues[alone].Parts = append(st.Issues[alone].Parts, first)
		}
	})
	if got := must(driver.Links(t.Context(), alone))(t); len(got.Parts) != 101 || got.Parts[100].Closed {
		t.Errorf("of 101 parts, the last is %+v", got.Parts[len(got.Parts)-1])
	}
	s.With(func(st *gitlabtest.State) { st.Issues[alone].Parts = nil })
	got := must(driver.Links(t.Context(), parent))(t)
	if got.Parent != 0 || len(got.Parts) != 3 || got.Parts[0].Number != first || got.Parts[1].Title != "Last" || got.Parts[2].Number != 0 || !got.Parts[2].Closed || got.Parts[2].Page == "" {
		t.Errorf("the parent has %+v", got)
	}
	f := hosted.New(hosted.Config{Server: driver, Store: must(store.Open(t.Context(), store.Config{Root: t.TempDir()}))(t), Clock: time.Now})
	for _, c := range []struct {
		part   int
		closed bool
	}{{first, false}, {last, true}} {
		ok(t, f.CloseRequest(t.Context(), forge.Request{Number: c.part}, ""))
		s.With(func(st *gitlabtest.State) {
			if st.Issues[parent].Closed != c.closed || st.Issues[epic].Closed {
				t.Errorf("with part %d, the parent is closed: %t", c.part, st.Issues[parent].Closed)
			}
		})
	}
	for _, old := range []gitlabtest.Fault{{Status: 403, Body: `{"message":"403 Forbidden"}`}, {Status: 200, Body: `{"errors":[{"message":"Field 'features' doesn't exist on type 'WorkItem'"}]}`}, {Status: 404, Body: "<html>"}} {
		old.Path = "/api/graphql"
		end := s.Inject(old)
		if got := must(driver.Links(t.Context(), parent))(t); got.Parts != nil || !end() {
			t.Errorf("a server that answers %d has %+v", old.Status, got)
		}
	}
	s.Inject(gitlabtest.Fault{Path: "/api/graphql", Status: 502})
	if _, err := driver.Links(t.Context(), parent); err == nil {
		t.Error("an answer that doesn't come counts as no parts")
	}
}
