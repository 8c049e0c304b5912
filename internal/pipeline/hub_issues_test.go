package pipeline_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// account is a user of GitHub.
type account struct {
	Login string `json:"login"`
	Type  string `json:"type"`
}

var (
	workflowItself = account{"github-actions[bot]", "Bot"}
	ada            = account{"ada", "User"}
	eve            = account{"eve", "User"}
)

// issue is an issue in GitHub's API.
type issue struct {
	Number   int      `json:"number"`
	URL      string   `json:"html_url"`
	State    string   `json:"state"`
	Title    string   `json:"title"`
	Body     string   `json:"body"`
	Labels   []string `json:"-"`
	User     account  `json:"user"`
	ClosedBy *account `json:"closed_by,omitempty"`
	comments []string
}

func (i *issue) close(by account) { i.State, i.ClosedBy = "closed", &by }

// opened adds an issue opened by the account.
func (h *hub) opened(by account, title, body string) *issue {
	i := &issue{Number: len(h.issues) + 1, State: "open", Title: title, Body: body, User: by}
	i.URL = fmt.Sprintf("https://github.com/%s/issues/%d", repository, i.Number)
	h.issues = append(h.issues, i)
	return i
}

// serveIssues speaks as much of GitHub's API as opening, finding and closing issues takes. Who holds the token is the workflow.
func (h *hub) serveIssues(mux *http.ServeMux) {
	all := "/repos/" + repository + "/issues"
	mux.HandleFunc("GET "+all, h.authorized(h.listIssues))
	mux.HandleFunc("POST "+all, h.authorized(func(w http.ResponseWriter, r *http.Request) {
		i := h.opened(workflowItself, "", "")
		h.change(w, r, i)
	}))
	for method, do := range map[string]func(http.ResponseWriter, *http.Request, *issue){
		"GET": func(w http.ResponseWriter, _ *http.Request, i *issue) { write(w, i) }, "PATCH": h.change} {
		mux.HandleFunc(method+" "+all+"/{number}", h.authorized(func(w http.ResponseWriter, r *http.Request) { do(w, r, h.issues[number(r.PathValue("number"))-1]) }))
	}
	mux.HandleFunc("POST "+all+"/{number}/comments", h.authorized(func(w http.ResponseWriter, r *http.Request) {
		var comment struct{ Body string }
		h.decode(r, &comment)
		i := h.issues[number(r.PathValue("number"))-1]
		i.comments = append(i.comments, comment.Body)
		write(w, comment)
	}))
}

// listIssues has the newest first, as GitHub does, and of none who closed it.
func (h *hub) listIssues(w http.ResponseWriter, r *http.Request) {
	list, q := []issue{}, r.URL.Query()
	for _, i := range slices.Backward(h.issues) {
		if (q.Get("creator") == "" || q.Get("creator") == i.User.Login) && (q.Get("state") == "all" || q.Get("state") == i.State) {
			listed := *i
			listed.ClosedBy = nil
			list = append(list, listed)
		}
	}
	from := min((max(number(q.Get("page")), 1)-1)*100, len(list))
	write(w, list[from:min(from+100, len(list))])
}

func (h *hub) change(w http.ResponseWriter, r *http.Request, i *issue) {
	var change struct {
		Title, Body, State *string
		Labels             []string
	}
	h.decode(r, &change)
	for to, from := range map[*string]*string{&i.Title: change.Title, &i.Body: change.Body} {
		if from != nil {
			*to = *from
		}
	}
	if change.Labels != nil {
		i.Labels = change.Labels
	}
	switch {
	case change.State == nil:
	case *change.State == "closed":
		i.close(workflowItself)
	default:
		i.State, i.ClosedBy = "open", nil
	}
	write(w, i)
}

func (h *hub) decode(r *http.Request, into any) {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		h.t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
}
