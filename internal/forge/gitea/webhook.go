package gitea

import (
	"io"
	"net/http"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/lazy"
)

// message is what is read of a webhook. Nothing in it is believed but numbers, to look at, a commit's id, and what an issue said when a comment came.
type message struct {
	Action     string    `json:"action"`
	Number     int       `json:"number"`
	Repository *fullName `json:"repository"`
	Sender     *user     `json:"sender"`
	Issue      *numbered `json:"issue"`
	Pull       *numbered `json:"pull_request"`
	Comment    *struct {
		ID   int64 `json:"id"`
		User user  `json:"user"`
	} `json:"comment"`
	SHA string    `json:"sha"`
	Run *reported `json:"workflow_run"`
	Job *reported `json:"workflow_job"`
}

type (
	fullName struct {
		FullName string `json:"full_name"`
	}
	numbered struct {
		Number int    `json:"number"`
		Title  string `json:"title"`
		Body   string `json:"body"`
	}
	reported struct {
		HeadSHA string `json:"head_sha"`
	}
)

var (
	eventName  = lazy.Pattern(`^[a-z_]{1,50}$`)
	deliveryID = lazy.Pattern(`^[A-Za-z0-9-]{1,64}$`)
)

// Webhook reads a message of Gitea's or Forgejo's, sent as JSON.
func (s *Server) Webhook(header http.Header, body io.Reader, secret string) (forge.Wake, error) {
	var m message
	if err := forge.ReadSigned(body, header.Get("X-Gitea-Signature"), secret, &m); err != nil {
		return forge.Wake{}, err
	}
	if m.Repository == nil || !strings.EqualFold(m.Repository.FullName, s.owner+"/"+s.name) {
		return forge.Wake{}, forge.ErrForeign
	}
	wake := m.wake(header.Get("X-Gitea-Event"), header.Get("X-Gitea-Event-Type"))
	wake.Event = eventName().FindString(header.Get("X-Gitea-Event-Type"))
	wake.Delivery = deliveryID().FindString(header.Get("X-Gitea-Delivery"))
	return wake, nil
}

// wake is what the event gives to look at. The kind is finer than the event: it tells a label from other changes of an issue.
func (m message) wake(event, kind string) (w forge.Wake) {
	person := m.Sender != nil && !m.Sender.bot()
	switch {
	case event == "issues", event == "issue_comment", strings.HasPrefix(event, "pull_request"):
		for _, n := range []int{m.Number, numberOf(m.Issue), numberOf(m.Pull)} {
			if n > 0 && len(w.Numbers) == 0 {
				w.Numbers = []int{n}
			}
		}
		wrote := event == "issue_comment" && m.Action == "created" && m.Comment != nil && !m.Comment.User.bot()
		labelled := (kind == "issue_label" || kind == "pull_request_label") && m.Action == "label_updated"
		w.MayStart = len(w.Numbers) > 0 && person && (wrote || labelled)
		if w.MayStart && kind == "issue_comment" && m.Issue != nil {
			w.Texts = map[int64]forge.TextSum{m.Comment.ID: forge.Issue{Title: m.Issue.Title, Body: m.Issue.Body}.Sum()}
		}
	case event == "status":
		w.Commit = commitID().FindString(m.SHA)
	case event == "workflow_run" && m.Run != nil:
		w.Commit = commitID().FindString(m.Run.HeadSHA)
	case event == "workflow_job" && m.Job != nil:
		w.Commit = commitID().FindString(m.Job.HeadSHA)
	}
	return w
}

func numberOf(n *numbered) int {
	if n == nil {
		return 0
	}
	return n.Number
}
