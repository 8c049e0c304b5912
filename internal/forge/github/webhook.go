package github

import (
	"io"
	"net/http"
	"slices"
	"strings"

	"signalbox/internal/forge"
)

// webhook is what is read of a message.
type webhook struct {
	Action     string
	Repository struct {
		FullName string `json:"full_name"`
	}
	Sender      account
	Issue       *numbered
	PullRequest *numbered `json:"pull_request"`
	Comment     *struct {
		User account
		Via  *struct{} `json:"performed_via_github_app"`
	}
	CheckRun   *checked `json:"check_run"`
	CheckSuite *checked `json:"check_suite"`
	SHA        string   `json:"sha"`
	State      string
}

type account struct{ Login, Type string }

type numbered struct{ Number int }

type checked struct {
	HeadSHA      string     `json:"head_sha"`
	PullRequests []numbered `json:"pull_requests"`
}

// Webhook reads a message of GitHub.
func (s *Server) Webhook(header http.Header, body io.Reader, secret string) (forge.Wake, error) {
	signature, ok := strings.CutPrefix(header.Get("X-Hub-Signature-256"), "sha256=")
	if !ok { // signed by another algorithm, or not at all
		signature = ""
	}
	var w webhook
	if err := forge.ReadSigned(body, signature, secret, &w); err != nil {
		return forge.Wake{}, err
	}
	if !strings.EqualFold(w.Repository.FullName, s.owner+"/"+s.name) {
		return forge.Wake{}, forge.ErrForeign
	}
	wake := w.wake(header.Get("X-GitHub-Event"))
	wake.Event, wake.Delivery = s.transport.Clean(header.Get("X-GitHub-Event")), s.transport.Clean(header.Get("X-GitHub-Delivery"))
	return wake, nil
}

func (w webhook) wake(event string) (wake forge.Wake) {
	switch event {
	case "issues", "issue_comment", "pull_request", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread":
		for _, about := range []*numbered{w.Issue, w.PullRequest} {
			if about != nil {
				wake = at(wake, about.Number)
			}
		}
		wake.MayStart = len(wake.Numbers) > 0 && w.order(event)
	case "check_run", "check_suite":
		if w.Action != "completed" { // a run waits for the end of checks
			return wake
		}
		for _, about := range []*checked{w.CheckRun, w.CheckSuite} {
			if about != nil {
				wake = about.wake(wake)
			}
		}
	case "status":
		if fullID().MatchString(w.SHA) && w.State != "pending" {
			wake.Commit = w.SHA
		}
	}
	return wake
}

// order reports whether a person wrote a comment or set a label. An edited comment may have been answered already, and a
// program's could be made to say anything.
func (w webhook) order(event string) bool {
	if isBot(w.Sender.Login, w.Sender.Type) {
		return false
	}
	switch event {
	case "issue_comment":
		return w.Action == "created" && w.Comment != nil && w.Comment.Via == nil && !isBot(w.Comment.User.Login, w.Comment.User.Type)
	case "issues", "pull_request":
		return w.Action == "labeled"
	}
	return false
}

func at(wake forge.Wake, number int) forge.Wake {
	if number > 0 && !slices.Contains(wake.Numbers, number) {
		wake.Numbers = append(wake.Numbers, number)
	}
	return wake
}

// wake adds the commit, and the pull requests that GitHub names: none if they come from a fork.
func (c checked) wake(wake forge.Wake) forge.Wake {
	if fullID().MatchString(c.HeadSHA) {
		wake.Commit = c.HeadSHA
	}
	for _, p := range c.PullRequests {
		wake = at(wake, p.Number)
	}
	return wake
}
