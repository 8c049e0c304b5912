package github_test

import (
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/budget"
	"signalbox/internal/forge/github"
	"signalbox/internal/forge/github/githubtest"
)

func used(s *githubtest.Server, resource string) (n int) {
	s.With(func(st *githubtest.State) { n = st.Limits[resource].Used })
	return n
}

func TestWhatIsUnchangedIsNotPaidFor(t *testing.T) {
	t.Parallel()
	s, driver, use := startCounted(t)
	number := s.Issue("Count", "")
	for i := range 150 {
		s.Comment(number, "grace", strings.Repeat("x", i))
	}
	for range 5 {
		if got := must(driver.Remarks(t.Context(), forge.OnIssue(number)))(t); len(got) != 150 {
			t.Fatalf("there are %d comments", len(got))
		}
	}
	if got := used(s, "core"); got != 2 {
		t.Errorf("%d calls were paid for, want 2: one for each page", got)
	}
	hour := use().Hour
	if got := hour.Calls["GET issues/*/comments"]; got != 10 || hour.Unchanged != 8 || hour.Paid != 2 {
		t.Errorf("it counted %+v", hour)
	}
	s.Comment(number, "grace", "new")
	if got := must(driver.Remarks(t.Context(), forge.OnIssue(number)))(t); len(got) != 151 || got[150].Body != "new" {
		t.Errorf("the new comment is missing among %d", len(got))
	}
	if b := use().Limits["core"]; b.Limit != 5000 || b.Remaining != 5000-used(s, "core") || b.Reset.IsZero() {
		t.Errorf("the budget is %+v", b)
	}
}

func TestEqualReadsUnderWayAreOne(t *testing.T) {
	t.Parallel()
	s, driver, use := startCounted(t)
	number := s.Issue("Count", "")
	arrived, release := make(chan struct{}), make(chan struct{})
	s.Inject(githubtest.Fault{Path: "/issues/", Wait: release, Arrived: arrived})
	var group sync.WaitGroup
	read := func() {
		defer group.Done()
		if got, err := driver.Issue(t.Context(), number); err != nil || got.Title != "Count" {
			t.Errorf("read %+v, %v", got, err)
		}
	}
	group.Add(1)
	go read()
	<-arrived
	group.Add(7)
	for range 7 {
		go read()
	}
	for use().Day.Joined < 7 && t.Context().Err() == nil {
		runtime.Gosched()
	}
	close(release)
	group.Wait()
	if hour := use().Hour; hour.Calls["GET issues/*"] != 1 {
		t.Errorf("%d calls were sent", hour.Calls["GET issues/*"])
	}
}

// Who looks whether a write with a lost answer was performed must see it, even if an equal read is still under way.
func TestAReadAfterAWriteJoinsNoneFromBefore(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	arrived, release := make(chan struct{}), make(chan struct{})
	s.Inject(githubtest.Fault{Method: "GET", Path: "/issues", Wait: release, Arrived: arrived})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = driver.Issues(t.Context(), forge.Query{}, 10)
	}()
	<-arrived
	s.Inject(githubtest.Fault{Method: "POST", Path: "/issues", Lose: true})
	_, err := driver.CreateIssue(t.Context(), "Once", "")
	wantFailure(t, err, forge.Failure{Kind: forge.Unavailable})
	if got := must(driver.Issues(t.Context(), forge.Query{}, 10))(t); len(got) != 1 {
		t.Errorf("the look-up finds %d issues", len(got))
	}
	close(release)
	<-done
}

func TestCallsAreCountedByKind(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	c := config(s)
	c.Token, c.App = nil, installed(t, s)
	perCredential := counted(c.Now)
	perCredential.Credential = func(r *http.Request) string {
		if github.ByApp(r) {
			return "app"
		}
		return "installation"
	}
	calls := budget.New(perCredential)
	c.Client = &http.Client{Transport: calls}
	driver := open(t, c)
	s.Commit("release/1", nil)
	p := propose(t, s, driver, "topic")
	_, _ = driver.Required(t.Context(), "release/1")
	_ = must(driver.Verdicts(t.Context(), p.Head))(t)
	_ = must(driver.MayWrite(t.Context(), "ada"))(t)
	_ = driver.Label(t.Context(), forge.OnPull(p.Number), []string{"x"}, nil)
	_ = driver.Label(t.Context(), forge.OnPull(p.Number), nil, []string{"x"})
	_ = must(driver.Threads(t.Context(), p.Number))(t)
	_ = must(driver.Whoami(t.Context()))(t)
	want := map[string][]string{
		"app": {"GET installation", "POST app/installations/*/access_tokens"},
		"installation": {"DELETE issues/*/labels/*", "GET branches/*/protection", "GET collaborators/*/permission", "GET commits/*/check-runs", "GET commits/*/status",
			"GET issues/*", "GET pulls/*", "GET rules/branches/*", "POST graphql", "POST issues/*/labels", "POST pulls"},
	}
	uses := calls.Use()
	if len(uses) != len(want) {
		t.Errorf("there are %d budgets, want one for the App and one for its installation", len(uses))
	}
	for _, use := range uses {
		if kinds := slices.Sorted(maps.Keys(use.Hour.Calls)); !slices.Equal(kinds, want[use.Name]) {
			t.Errorf("the kinds of the %s are %q, want %q", use.Name, kinds, want[use.Name])
		}
	}
}
