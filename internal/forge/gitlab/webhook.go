package gitlab

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/lazy"
)

// webhook is what is read of a message. Nothing in it is believed but numbers, to look at, and a commit's id.
type webhook struct {
	Kind    string `json:"object_kind"`
	SHA     string `json:"sha"` // of a job
	User    user   `json:"user"`
	Project struct {
		Path string `json:"path_with_namespace"`
	} `json:"project"`
	Object struct {
		IID    int    `json:"iid"`
		Action string `json:"action"`
		System bool   `json:"system"`
		SHA    string `json:"sha"` // of a pipeline
	} `json:"object_attributes"`
	Issue   *numbered `json:"issue"`
	Merge   *numbered `json:"merge_request"`
	Changes struct {
		Labels *struct{} `json:"labels"`
	} `json:"changes"`
}

type numbered struct {
	IID int `json:"iid"`
}

var (
	eventName  = lazy.Expression{Text: `^[A-Za-z ]{1,50}$`}
	deliveryID = lazy.Expression{Text: `^[A-Za-z0-9-]{1,64}$`}
)

// Webhook reads a message of GitLab's. It shows its secret token in plain; servers since 19.0 can sign the message instead.
func (s *Server) Webhook(header http.Header, body io.Reader, secret string) (forge.Wake, error) {
	var w webhook
	if err := forge.ReadChecked(body, func(raw []byte) bool { return s.genuine(header, raw, secret) }, &w); err != nil {
		return forge.Wake{}, err
	}
	if !strings.EqualFold(w.Project.Path, s.path) {
		return forge.Wake{}, forge.ErrForeign
	}
	wake := w.wake()
	wake.Event = eventName.Regexp().FindString(header.Get("X-Gitlab-Event"))
	for _, id := range []string{"Idempotency-Key", "X-Gitlab-Event-UUID"} { // the first is the same if GitLab tries again
		if wake.Delivery == "" {
			wake.Delivery = deliveryID.Regexp().FindString(header.Get(id))
		}
	}
	return wake, nil
}

// maxAge is how old a signed message may be: who overheard one can't send it again later.
const maxAge = 5 * time.Minute

// genuine checks the signature, as the standard for webhooks has it, or the token if there is none.
func (s *Server) genuine(header http.Header, raw []byte, secret string) bool {
	signatures := header.Get("Webhook-Signature")
	if secret == "" {
		return false
	}
	if signatures == "" {
		given, want := sha256.Sum256([]byte(header.Get("X-Gitlab-Token"))), sha256.Sum256([]byte(secret)) // of one length
		return subtle.ConstantTimeCompare(given[:], want[:]) == 1
	}
	stamp := header.Get("Webhook-Timestamp")
	at, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || s.transport.Now().Sub(time.Unix(at, 0)).Abs() > maxAge {
		return false
	}
	mac := hmac.New(sha256.New, signingKey(secret))
	mac.Write([]byte(header.Get("Webhook-Id") + "." + stamp + "."))
	mac.Write(raw)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	return slices.ContainsFunc(strings.Fields(signatures), func(given string) bool { return hmac.Equal([]byte(given), []byte(want)) })
}

// signingKey decodes a secret in the standard's form. Any other is the key itself.
func signingKey(secret string) []byte {
	if encoded, standard := strings.CutPrefix(secret, "whsec_"); standard {
		if key, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			return key
		}
	}
	return []byte(secret)
}

// wake is what the event gives to look at.
func (w webhook) wake() (wake forge.Wake) {
	add := func(iid int, pull bool) {
		if iid > 0 {
			wake.Numbers, wake.On = []int{iid}, []forge.Subject{{Number: iid, Pull: pull}}
		}
	}
	switch w.Kind {
	case "issue", "work_item", "merge_request":
		add(w.Object.IID, w.Kind == "merge_request")
		wake.MayStart = w.Changes.Labels != nil
	case "note":
		if w.Issue != nil {
			add(w.Issue.IID, false)
		}
		if w.Merge != nil {
			add(w.Merge.IID, true)
		}
		wake.MayStart = !w.Object.System && (w.Object.Action == "create" || w.Object.Action == "") // older servers don't say
	case "pipeline":
		wake.Commit = commitID.Regexp().FindString(w.Object.SHA)
		if w.Merge != nil {
			add(w.Merge.IID, true)
		}
	case "build":
		wake.Commit = commitID.Regexp().FindString(w.SHA)
	}
	wake.MayStart = wake.MayStart && len(wake.Numbers) > 0 && !isBot(w.User.Username)
	return wake
}
