package gitea

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/lazy"
)

// maxWebhook bounds what is read before the signature is checked.
const maxWebhook = 8 << 20

// message is what is read of a webhook. Nothing in it is believed but numbers, to look at, and a commit's id.
type message struct {
	Action     string    `json:"action"`
	Number     int       `json:"number"`
	Repository *fullName `json:"repository"`
	Sender     *user     `json:"sender"`
	Issue      *numbered `json:"issue"`
	Pull       *numbered `json:"pull_request"`
	Comment    *struct {
		User user `json:"user"`
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
		Number int `json:"number"`
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
	raw, err := io.ReadAll(io.LimitReader(body, maxWebhook+1))
	if err != nil {
		return forge.Wake{}, fmt.Errorf("read the webhook: %w", err)
	}
	if len(raw) > maxWebhook {
		return forge.Wake{}, fmt.Errorf("read the webhook: it is larger than %d MB", maxWebhook>>20)
	}
	if !signed(raw, header.Get("X-Gitea-Signature"), secret) {
		return forge.Wake{}, forge.ErrForged
	}
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		return forge.Wake{}, errors.New("read the webhook: it is not JSON as Gitea sends it; its content type must be application/json")
	}
	if m.Repository == nil || !strings.EqualFold(m.Repository.FullName, s.owner+"/"+s.name) {
		return forge.Wake{}, forge.ErrForeign
	}
	wake := m.wake(header.Get("X-Gitea-Event"), header.Get("X-Gitea-Event-Type"))
	wake.Event = eventName().FindString(header.Get("X-Gitea-Event-Type"))
	wake.Delivery = deliveryID().FindString(header.Get("X-Gitea-Delivery"))
	return wake, nil
}

// signed checks the signature in the time that any one takes.
func signed(raw []byte, signature, secret string) bool {
	sent, err := hex.DecodeString(signature)
	if err != nil || secret == "" {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(raw)
	return hmac.Equal(sent, mac.Sum(nil))
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
