package pipeline_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

const issuesToken = "glpat-whichopensissues"

// member is a user of GitLab.
type member struct {
	ID       int    `json:"id"`
	Username string `json:"username"`
}

var (
	loopItself = member{1, "project_12_bot_4f"}
	triage     = member{2, "group_3_bot_88"}
	grace      = member{3, "grace"}
	mallory    = member{4, "mallory"}
)

// gitLabIssue is an issue in GitLab's API.
type gitLabIssue struct {
	IID         int     `json:"iid"`
	URL         string  `json:"web_url"`
	State       string  `json:"state"`
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Labels      string  `json:"-"`
	Author      member  `json:"author"`
	ClosedBy    *member `json:"closed_by"`
	notes       []string
}

func (i *gitLabIssue) close(by member) { i.State, i.ClosedBy = "closed", &by }

// gitLabProject is a project's jobs and issues. The test holds it, except while a job runs.
type gitLabProject struct {
	*httptest.Server
	mu     sync.Mutex
	jobs   []job // the newest first
	issues []*gitLabIssue
}

func newGitLabProject(t *testing.T) *gitLabProject {
	p, mux := &gitLabProject{}, http.NewServeMux()
	serveGitLabJobs(mux, func() []job { return p.jobs })
	p.serveIssues(t, mux)
	p.mu.Lock()
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *gitLabProject) opened(by member, title, description string) *gitLabIssue {
	i := &gitLabIssue{IID: len(p.issues) + 1, State: "opened", Title: title, Description: description, Author: by}
	i.URL = fmt.Sprintf("https://gitlab.example.org/acme/shop/-/issues/%d", i.IID)
	p.issues = append(p.issues, i)
	return i
}

func (p *gitLabProject) serveIssues(t *testing.T, mux *http.ServeMux) {
	handle := func(pattern string, do func(*http.Request, *gitLabIssue) any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+issuesToken {
				http.Error(w, "who are you?", http.StatusUnauthorized)
				return
			}
			var i *gitLabIssue
			if n := number(r.PathValue("iid")); n > 0 {
				i = p.issues[n-1]
			}
			write(w, do(r, i))
		})
	}
	const all = "/api/v4/projects/12/issues"
	handle("GET /api/v4/user", func(*http.Request, *gitLabIssue) any { return loopItself })
	handle("GET "+all, func(r *http.Request, _ *gitLabIssue) any { return p.list(r) })
	handle("GET "+all+"/{iid}", func(_ *http.Request, i *gitLabIssue) any { return i })
	handle("POST "+all, func(r *http.Request, _ *gitLabIssue) any { return change(t, r, p.opened(loopItself, "", "")) })
	handle("PUT "+all+"/{iid}", func(r *http.Request, i *gitLabIssue) any { return change(t, r, i) })
	handle("POST "+all+"/{iid}/notes", func(r *http.Request, i *gitLabIssue) any {
		var note struct{ Body string }
		if err := json.NewDecoder(r.Body).Decode(&note); err != nil {
			t.Error(err)
		}
		i.notes = append(i.notes, note.Body)
		return note
	})
}

func (p *gitLabProject) list(r *http.Request) []*gitLabIssue {
	list, q := []*gitLabIssue{}, r.URL.Query()
	for _, i := range slices.Backward(p.issues) {
		if fmt.Sprint(i.Author.ID) == q.Get("author_id") && (q.Get("state") == "all" || q.Get("state") == i.State) {
			list = append(list, i)
		}
	}
	from := min((number(q.Get("page"))-1)*100, len(list))
	return list[from:min(from+100, len(list))]
}

func change(t *testing.T, r *http.Request, i *gitLabIssue) *gitLabIssue {
	var change struct {
		Title, Description, Labels *string
		Event                      string `json:"state_event"`
	}
	if err := json.NewDecoder(r.Body).Decode(&change); err != nil {
		t.Error(err)
	}
	for to, from := range map[*string]*string{&i.Title: change.Title, &i.Description: change.Description, &i.Labels: change.Labels} {
		if from != nil {
			*to = *from
		}
	}
	switch change.Event {
	case "close":
		i.close(loopItself)
	case "reopen":
		i.State, i.ClosedBy = "opened", nil
	}
	return i
}
