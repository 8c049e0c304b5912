// Package gitlabtest is a stand-in for GitLab. It keeps issues, notes, merge requests, verdicts and approvals, its branches are a real git
// repository, and it holds every request and every answer, its own included, against a description made from GitLab's own client. It shows how
// GitLab's words are used; it can't show that GitLab behaves as documented.
package gitlabtest

import (
	_ "embed"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/forge/standin"
)

// Path is the project's, below a subgroup. Person and Robot own tokens.
const (
	Path   = "octo/tools/engine"
	Person = "ada"
	Robot  = "project_7_bot_1f"
)

//go:generate go run trim.go DIR

//go:embed testdata/openapi.json.gz
var packed []byte

var description = standin.Describe(packed, nil)

// Fault is what goes wrong with requests.
type Fault = standin.Fault

// End removes what all servers of a process share.
func End() error { return standin.End() }

// Server is one GitLab with one project.
type Server struct {
	// URL is the address for people, without a slash at the end. Root is the part of its path, "" or such as "/gitlab".
	URL, Root string
	*standin.Git
	standin.Faults

	t    testing.TB
	http *httptest.Server

	mu    sync.Mutex
	state State
	log   []Request
}

// State is what the server knows. Tests change it with Server.With.
type State struct {
	// Now is the server's clock.
	Now time.Time
	// Tokens maps a token to its account, and Levels an account to its level of access: 20 is a Reporter, 30 a Developer, 40 a Maintainer.
	Tokens map[string]string
	Levels map[string]int
	// Hidden: the project doesn't say what the account's level is, as for those who were invited by a group.
	Hidden bool

	Issues    map[int]*Issue
	Merges    map[int]*MergeRequest
	Notes     []*Note
	Statuses  []*Status
	Pipelines []*Pipeline
	Logs      map[int64]string
	// Settings are overwritten in the project's answer, by GitLab's names.
	Settings map[string]any
	// Forks are by their paths. Filling is how often a fork is read until it has its branches.
	Forks   map[string]*Fork
	Filling int
	// Protected has the branches that only those with this level may push to.
	Protected map[string]int
	// Rules are those of approval. RulesStatus is answered instead, if it is not 0.
	Rules       []map[string]any
	RulesStatus int
	// Unnoticed: GitLab doesn't look at what is pushed.
	Unnoticed bool
	// Keyset: lists say by a key where they go on.
	Keyset bool
	// Remaining is what is left of 2,000 calls a minute.
	Remaining int

	last int64
}

// Fork is a copy in the namespace of the account that owns it.
type Fork struct {
	ID    int64
	Owner string
	Git   *standin.Git
}

// Fork makes the fork of an account.
func (s *Server) Fork(owner, name string) *standin.Git {
	git := s.Git.Fork(name)
	s.With(func(st *State) { st.Forks[owner+"/"+name] = &Fork{st.id(), owner, git} })
	return git
}

// Request is what was asked. Token is what it showed, and how.
type Request struct {
	Line, Token string
	Status      int
}

// New starts a server with an empty project on branch main. It ends with the test.
func New(t testing.TB) *Server { return NewBelow(t, "") }

// NewBelow starts one whose pages are below a path.
func NewBelow(t testing.TB, root string) *Server {
	t.Helper()
	s := &Server{t: t, Root: root, Git: standin.NewGit(t, "engine")}
	s.state = State{
		Now:    time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC),
		Tokens: map[string]string{"glpat-ada": Person, "glpat-grace": "grace", "glpat-mallory": "mallory", "glpat-robot": Robot, "job-ada": Person},
		Levels: map[string]int{Person: 40, "grace": 30, "mallory": 20, Robot: 40},
		Issues: map[int]*Issue{}, Merges: map[int]*MergeRequest{}, Logs: map[int64]string{}, Settings: map[string]any{}, Forks: map[string]*Fork{}, Protected: map[string]int{},
		RulesStatus: http.StatusNotFound, Remaining: 2000,
	}
	s.http = httptest.NewServer(s)
	t.Cleanup(s.http.Close)
	s.URL = s.http.URL + root
	return s
}

// With changes or reads the state.
func (s *Server) With(change func(*State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.state)
}

// Requests returns what was asked so far, and forgets it.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.log
	s.log = nil
	return asked
}

// Remote is the repository's address for git.
func (s *Server) Remote() string { return s.URL + "/" + Path + ".git" }

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	perform := s.serveGit
	switch {
	case strings.HasPrefix(r.URL.Path, s.Root+"/api/v4/"):
		perform = s.serveAPI
	case r.URL.Path == s.Root+"/api/graphql":
		perform = s.serveGraphQL
	}
	s.Serve(w, r, perform, func(status int) { s.logged(r, status) })
}

// shown is how a request shows a token.
func shown(r *http.Request) (how, token string) {
	for _, how := range []string{"PRIVATE-TOKEN", "JOB-TOKEN"} {
		if token := r.Header.Get(how); token != "" {
			return how, token
		}
	}
	return "Bearer", strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

func (s *Server) logged(r *http.Request, status int) {
	how, token := shown(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, Request{Line: r.Method + " " + r.URL.RequestURI(), Token: how + " " + token, Status: status})
}

// serveGit serves the repository to accounts that may push, by their token as the password.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request) {
	_, token, _ := r.BasicAuth()
	s.mu.Lock()
	account := s.state.Tokens[token]
	may := s.state.Levels[account] >= 30
	var fork *Fork
	rest := ""
	for path, f := range s.state.Forks {
		if below, theirs := strings.CutPrefix(r.URL.Path, s.Root+"/"+path+".git/"); theirs && f.Owner == account {
			fork, rest = f, below
		}
	}
	s.mu.Unlock()
	if fork != nil {
		fork.Git.ServeGit(w, r, rest)
		return
	}
	rest, ours := strings.CutPrefix(r.URL.Path, s.Root+"/"+Path+".git/")
	switch {
	case !may:
		w.Header().Set("WWW-Authenticate", `Basic realm="GitLab"`)
		http.Error(w, "HTTP Basic: Access denied", http.StatusUnauthorized)
	case !ours:
		http.NotFound(w, r)
	default:
		s.ServeGit(w, r, rest)
	}
}

func (st *State) id() int64 {
	st.last++
	return 1_000_000_000 + st.last
}

// tick moves the clock: no two things happen at the same time.
func (st *State) tick() time.Time {
	st.Now = st.Now.Add(time.Second)
	return st.Now
}
