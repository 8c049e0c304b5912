package github_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/budget"
	"signalbox/internal/forge/github"
	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/forge/rest"
)

func token(text string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return text, nil }
}

// config is the driver's on the stand-in, as ada, who may do everything.
func config(s *githubtest.Server) github.Config {
	now := func() (now time.Time) {
		s.With(func(st *githubtest.State) { now = st.Now })
		return now
	}
	return github.Config{URL: s.URL, Owner: githubtest.Owner, Name: githubtest.Name, Token: token("ghp_ada"), Now: now,
		Client: &http.Client{Transport: budget.New(counted(now))}}
}

// counted is the budget below the driver, as wire puts it there.
func counted(now func() time.Time) budget.Config {
	return budget.Config{Kind: rest.Kind, Limit: github.Limit, Query: github.Query, FreeUnchanged: true, Now: now}
}

// startCounted is start, with the budget.
func startCounted(t *testing.T) (*githubtest.Server, *github.Server, func() budget.Use) {
	t.Helper()
	s := githubtest.New(t)
	c := config(s)
	return s, open(t, c), useOf(t, c)
}

// useOf returns what a driver's calls were counted as, of one credential.
func useOf(t *testing.T, c github.Config) func() budget.Use {
	calls, isCounted := c.Client.Transport.(*budget.Transport)
	if !isCounted {
		t.Fatal("the calls are not counted")
	}
	return func() budget.Use { return calls.Use()[0] }
}

func open(t *testing.T, c github.Config) *github.Server {
	t.Helper()
	driver, err := github.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return driver
}

// start returns a stand-in and the driver on it.
func start(t *testing.T) (*githubtest.Server, *github.Server) {
	t.Helper()
	s := githubtest.New(t)
	return s, open(t, config(s))
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		ok(t, err)
		return value
	}
}

func wantIs(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error is %v, want %v", err, want)
	}
}

func TestWhoamiNamesPersonsAndApps(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	if who := must(driver.Whoami(t.Context()))(t); who != (forge.Account{Name: githubtest.Person}) {
		t.Errorf("the token is of %+v", who)
	}
	s.With(func(st *githubtest.State) { st.Tokens["ghs_actions"] = "github-actions[bot]" })
	c := config(s)
	c.Token = token("ghs_actions")
	if who := must(open(t, c).Whoami(t.Context()))(t); who != (forge.Account{Name: "github-actions[bot]", Bot: true}) {
		t.Errorf("the token of Actions is of %+v", who)
	}
}

func TestRepositoryHasTheAccountsRights(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	s.With(func(st *githubtest.State) { st.Methods = []string{"squash", "rebase"} })
	want := forge.Repository{
		Path: "octo-org/engine", Page: s.URL + "/octo-org/engine", DefaultBranch: "main", MayPush: true, MayMerge: true, Methods: []string{"squash", "rebase"},
	}
	got := must(driver.Repository(t.Context()))(t)
	if got.Path != want.Path || got.Page != want.Page || got.DefaultBranch != want.DefaultBranch || !got.MayPush || !got.MayMerge || !slices.Equal(got.Methods, want.Methods) {
		t.Errorf("the repository is %+v, want %+v", got, want)
	}
	c := config(s)
	c.Token = token("ghp_mallory")
	if got := must(open(t, c).Repository(t.Context()))(t); got.MayPush || got.MayMerge {
		t.Errorf("who only reads has %+v", got)
	}
}

func TestMayWriteIsAskedAnew(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	for account, want := range map[string]bool{
		"ada": true, "grace": true, "mallory": false, "nobody": false, githubtest.Robot: true,
		"../../../user": false, "a/b": false, "": false, "a?b": false,
	} {
		if got, err := driver.MayWrite(t.Context(), account); err != nil || got != want {
			t.Errorf("%q may write: %v, %v, want %v", account, got, err, want)
		}
	}
	s.With(func(st *githubtest.State) { st.Permissions["grace"] = "read" })
	if may := must(driver.MayWrite(t.Context(), "grace"))(t); may {
		t.Error("a right that was taken away is still there")
	}
}

func TestARenamedRepositoryIsFollowed(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	number := s.Issue("Count", "One more")
	s.With(func(st *githubtest.State) { st.RenamedTo = "motor" })
	if found := must(driver.Issue(t.Context(), number))(t); found.Title != "Count" {
		t.Errorf("found %+v", found)
	}
	if made := must(driver.CreateIssue(t.Context(), "Another", ""))(t); made.Number == 0 {
		t.Errorf("made %+v", made)
	}
}

func TestNewRefusesWhatItCannotReachSafely(t *testing.T) {
	t.Parallel()
	good := github.Config{Owner: "o", Name: "n", Token: token("x"), Now: time.Now}
	for name, change := range map[string]func(*github.Config){
		"http to elsewhere": func(c *github.Config) { c.URL = "http://github.example.com" },
		"a token in a URL":  func(c *github.Config) { c.URL = "https://x:ghp_secret@github.com" },
		"a path":            func(c *github.Config) { c.URL = "https://github.com/o/n" },
		"no host":           func(c *github.Config) { c.URL = "github.com" },
		"a path as a name":  func(c *github.Config) { c.Name = ".." },
		"a slash":           func(c *github.Config) { c.Owner = "o/../p" },
		"no owner":          func(c *github.Config) { c.Owner = "" },
		"no credentials":    func(c *github.Config) { c.Token = nil },
		"an empty App":      func(c *github.Config) { c.Token, c.App = nil, &github.App{} },
	} {
		c := good
		change(&c)
		if _, err := github.New(c); err == nil {
			t.Errorf("%s is accepted", name)
		} else if strings.Contains(err.Error(), "ghp_secret") {
			t.Errorf("%s: the error has the token: %v", name, err)
		}
	}
	if _, err := github.New(good); err != nil {
		t.Error(err)
	}
}

// roundTripper answers in place of a server.
type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

func TestEachKindOfServerHasItsAPI(t *testing.T) {
	t.Parallel()
	for page, want := range map[string][2]string{
		"":                            {"https://api.github.com/repos/o/n", "https://api.github.com/graphql"},
		"https://github.com/":         {"https://api.github.com/repos/o/n", "https://api.github.com/graphql"},
		"https://GitHub.com":          {"https://api.github.com/repos/o/n", "https://api.github.com/graphql"},
		"https://octo.ghe.com":        {"https://api.octo.ghe.com/repos/o/n", "https://api.octo.ghe.com/graphql"},
		"https://git.example.com:444": {"https://git.example.com:444/api/v3/repos/o/n", "https://git.example.com:444/api/graphql"},
	} {
		var asked []string
		client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.URL.String())
			return nil, errors.New("no network")
		})}
		driver := open(t, github.Config{URL: page, Owner: "o", Name: "n", Token: token("x"), Client: client, Now: time.Now})
		_, _ = driver.Repository(t.Context())
		_, _ = driver.Whoami(t.Context())
		if !slices.Equal(asked, want[:]) {
			t.Errorf("%q is asked at %q, want %q", page, asked, want)
		}
	}
}
