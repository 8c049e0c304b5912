package gitea_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/gitea"
)

const hookSecret = "s3cret"

// headers are those that Gitea sends with a message.
func headers(event, kind string, body []byte, secret string) http.Header {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	h := http.Header{}
	h.Set("X-Gitea-Event", event)
	h.Set("X-Gitea-Event-Type", kind)
	h.Set("X-Gitea-Delivery", "0d4d9b1c-1111-2222-3333-444455556666")
	h.Set("X-Gitea-Signature", hex.EncodeToString(mac.Sum(nil)))
	return h
}

func hooked(t testing.TB, owner, name string) *gitea.Server {
	t.Helper()
	driver, err := gitea.New(gitea.Config{URL: "https://git.example.org", Owner: owner, Name: name, Token: noToken})
	if err != nil {
		t.Fatal(err)
	}
	return driver
}

// TestRecordedWebhooksAreRead reads what Gitea 1.26 sent, of which whatever the driver does not read is left out.
func TestRecordedWebhooksAreRead(t *testing.T) {
	t.Parallel()
	head := strings.Repeat("c", 40)
	for file, want := range map[string]forge.Wake{
		"issues.issues.json":      {Numbers: []int{1}},
		"issues.issue_label.json": {Numbers: []int{1}, MayStart: true},
		"issue_comment.issue_comment.json": {Numbers: []int{1}, MayStart: true,
			Texts: map[int64]forge.TextSum{4: forge.Issue{Title: "It is broken", Body: "Fix it."}.Sum()}},
		"issue_comment.edited.json":                               {Numbers: []int{1}},
		"issue_comment.bot.json":                                  {Numbers: []int{1}},
		"issue_comment.pull_request_comment.json":                 {Numbers: []int{2}, MayStart: true},
		"pull_request.pull_request_sync.json":                     {Numbers: []int{2}},
		"pull_request_approved.pull_request_review_approved.json": {Numbers: []int{2}},
		"status.status.json":                                      {Commit: head},
		"workflow_job.workflow_job.json":                          {Commit: head},
		"workflow_run.workflow_run.json":                          {Commit: head},
		"push.push.json":                                          {},
	} {
		body, err := os.ReadFile(filepath.Join("testdata", "webhooks", file))
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(file, ".")
		event, kind := parts[0], parts[1]
		if kind == "edited" || kind == "bot" {
			kind = event
		}
		got, err := hooked(t, "signalbox", "project").Webhook(headers(event, kind, body, hookSecret), bytes.NewReader(body), hookSecret)
		want.Event, want.Delivery = kind, "0d4d9b1c-1111-2222-3333-444455556666"
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", file, got, err, want)
		}
		if got.Nothing() != (want.Commit == "" && want.Numbers == nil) {
			t.Errorf("%s: nothing is %v", file, got.Nothing())
		}
	}
}

func TestAForgedOrForeignWebhookWakesNoOne(t *testing.T) {
	t.Parallel()
	body := []byte(`{"action":"created","issue":{"number":1},"comment":{"user":{"id":1}},"sender":{"id":1},"repository":{"full_name":"o/r"}}`)
	good := headers("issue_comment", "issue_comment", body, hookSecret)
	changed := func(name, value string) http.Header {
		h := good.Clone()
		h.Set(name, value)
		return h
	}
	driver := hooked(t, "o", "r")
	for name, c := range map[string]struct {
		header http.Header
		body   []byte
		secret string
		want   error
	}{
		"without a signature":         {changed("X-Gitea-Signature", ""), body, hookSecret, forge.ErrForged},
		"with another secret":         {headers("issue_comment", "issue_comment", body, "other"), body, hookSecret, forge.ErrForged},
		"with another body":           {good, append([]byte(" "), body...), hookSecret, forge.ErrForged},
		"with a shorter signature":    {changed("X-Gitea-Signature", good.Get("X-Gitea-Signature")[:32]), body, hookSecret, forge.ErrForged},
		"without a configured secret": {headers("issue_comment", "issue_comment", body, ""), body, "", forge.ErrForged},
	} {
		if wake, err := driver.Webhook(c.header, bytes.NewReader(c.body), c.secret); !errors.Is(err, c.want) || !wake.Nothing() || wake.MayStart {
			t.Errorf("%s: %+v, %v", name, wake, err)
		}
	}
	for _, text := range []string{`{"repository":{"full_name":"o/other"},"issue":{"number":1}}`, `{"issue":{"number":1}}`, `{}`, `null`} {
		body := []byte(text)
		if wake, err := driver.Webhook(headers("issues", "issues", body, hookSecret), bytes.NewReader(body), hookSecret); !errors.Is(err, forge.ErrForeign) || !wake.Nothing() {
			t.Errorf("%s: %+v, %v", text, wake, err)
		}
	}
	large := bytes.Repeat([]byte(" "), 9<<20)
	if _, err := driver.Webhook(headers("issues", "issues", large, hookSecret), bytes.NewReader(large), hookSecret); err == nil {
		t.Error("a message of 9 MB is read")
	}
}

func FuzzWebhook(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "webhooks", "*.json"))
	if err != nil || len(files) == 0 {
		f.Fatal("no recorded webhooks", err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		event, rest, _ := strings.Cut(filepath.Base(file), ".")
		f.Add(event, strings.TrimSuffix(rest, ".json"), body)
	}
	driver := hooked(f, "signalbox", "project")
	f.Fuzz(func(t *testing.T, event, kind string, body []byte) {
		wake, err := driver.Webhook(headers(event, kind, body, hookSecret), bytes.NewReader(body), hookSecret)
		if err != nil && (!wake.Nothing() || wake.MayStart) {
			t.Errorf("%v wakes %+v", err, wake)
		}
		for _, n := range wake.Numbers {
			if n < 1 {
				t.Errorf("number %d", n)
			}
		}
		if wake.Commit != "" && len(wake.Commit) != 40 && len(wake.Commit) != 64 || strings.ContainsAny(wake.Event+wake.Delivery, "\n\x1b ") {
			t.Errorf("%+v", wake)
		}
	})
}
