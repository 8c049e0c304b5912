// Package githubtest is a stand-in for GitHub. It keeps issues, comments, pull requests, verdicts and reviews, its branches are a
// real git repository, and it holds every request and every answer, its own included, against GitHub's published descriptions. It
// shows how GitHub's words are used; it can't show that GitHub behaves as described.
package githubtest

import (
	"crypto/rsa"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/forge/standin"
)

// Owner and Name are those of the repository, Person and Robot own the tokens.
const (
	Owner  = "octo-org"
	Name   = "engine"
	Person = "ada"
	Robot  = "signalbox-app[bot]"
)

// Fault is what goes wrong with requests.
type Fault = standin.Fault

// End removes what all servers of a process share.
func End() error { return standin.End() }

// Server is one GitHub with one repository.
type Server struct {
	// URL is the address for people, without a slash at the end. The API is where GitHub Enterprise has it.
	URL string
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
	// Tokens maps a token to its account, Permissions an account to none, read, write or admin.
	Tokens, Permissions map[string]string
	// AppKey checks the JWTs of the App with AppID. Installation is where it is installed.
	AppKey       *rsa.PublicKey
	AppID        string
	Installation int64
	// Minted are the installation's tokens and their ends.
	Minted map[string]time.Time

	Issues    map[int]*Issue
	Comments  []*Comment
	Pulls     map[int]*Pull
	Statuses  []*Status
	CheckRuns []*CheckRun
	Jobs      map[int64]*Job
	Runs      map[int64]*Run
	// Protection is what GET …/protection answers for a branch, in GitHub's own words; nil for a branch without one.
	Protection map[string]map[string]any
	// Rules is what GET …/rules/branches answers.
	Rules map[string][]map[string]any
	// Methods are the ways to merge that the repository allows.
	Methods []string
	// Still: nothing is pushed any more, so that branches need not be looked at before each answer.
	Still bool
	// NoDrafts: the plan has no draft pull requests.
	NoDrafts bool
	// Forks are by their owners. Filling is how often a new fork is asked for a branch until it has one.
	Forks   map[string]*Fork
	Filling int
	// RenamedTo is the repository's present name, if Name is a former one.
	RenamedTo string
	// Limits are the rate limits by resource; those that are used up refuse.
	Limits map[string]*Limit

	last int64
}

// Fork is another account's copy.
type Fork struct {
	Name string
	Git  *standin.Git
}

// Fork makes the fork of an account.
func (s *Server) Fork(owner, name string) *standin.Git {
	fork := &Fork{name, s.Git.Fork(name)}
	s.With(func(st *State) { st.Forks[owner] = fork })
	return fork.Git
}

// Limit is a rate limit.
type Limit struct {
	Limit, Used int
	Reset       time.Time
}

// Request is what was asked.
type Request struct {
	// Line is method and path with query, Auth the Authorization header, Status what was answered.
	Line, Auth string
	Status     int
}

// New starts a server with an empty repository on branch main. It ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, Git: standin.NewGit(t, Name)}
	s.state = State{
		Now:         time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC),
		Tokens:      map[string]string{"ghp_ada": Person, "ghp_grace": "grace", "ghp_mallory": "mallory"},
		Permissions: map[string]string{Person: "admin", "grace": "write", "mallory": "read", Robot: "write"},
		Minted:      map[string]time.Time{}, Issues: map[int]*Issue{}, Pulls: map[int]*Pull{}, Jobs: map[int64]*Job{}, Runs: map[int64]*Run{},
		Forks:      map[string]*Fork{},
		Protection: map[string]map[string]any{}, Rules: map[string][]map[string]any{}, Methods: []string{"merge", "squash", "rebase"},
		Limits: map[string]*Limit{"core": {Limit: 5000}, "search": {Limit: 30}, "graphql": {Limit: 5000}},
	}
	s.http = httptest.NewServer(s)
	t.Cleanup(s.http.Close)
	s.URL = s.http.URL
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

// Remote is the repository's address for git, with a token that may push.
func (s *Server) Remote() string { return s.URL + "/" + Owner + "/" + Name + ".git" }

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	perform := s.serveGit
	switch {
	case strings.HasPrefix(r.URL.Path, "/api/"):
		perform = s.serveAPI
	case strings.HasPrefix(r.URL.Path, "/logs/"):
		perform = s.serveLog
	}
	s.Serve(w, r, perform, func(status int) { s.logged(r, status) })
}

func (s *Server) logged(r *http.Request, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, Request{Line: r.Method + " " + r.URL.RequestURI(), Auth: r.Header.Get("Authorization"), Status: status})
}

// id returns a new number, larger than GraphQL's integers as GitHub's are.
func (st *State) id() int64 {
	st.last++
	return 3_000_000_000 + st.last
}

// tick moves the clock: no two things happen at the same time.
func (st *State) tick() time.Time {
	st.Now = st.Now.Add(time.Second)
	return st.Now
}
