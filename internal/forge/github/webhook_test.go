package github_test

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/github"
)

const secret = "it's a secret to everybody"

func sign(body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func delivery(event, signature string) http.Header {
	h := http.Header{}
	h.Set("X-GitHub-Event", event)
	h.Set("X-GitHub-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958")
	h.Set("X-Hub-Signature-256", signature)
	return h
}

// examples are the published ones, by event.
func examples(t testing.TB) map[string][]json.RawMessage {
	t.Helper()
	file, err := os.Open("testdata/webhooks.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var events []struct {
		Name     string
		Examples []json.RawMessage
	}
	if err := json.NewDecoder(unpacked).Decode(&events); err != nil {
		t.Fatal(err)
	}
	found := map[string][]json.RawMessage{}
	for _, e := range events {
		found[e.Name] = e.Examples
	}
	return found
}

// hooked is the driver of the repository that a message is about.
func hooked(t testing.TB, path string) *github.Server {
	t.Helper()
	owner, name, _ := strings.Cut(path, "/")
	driver, err := github.New(github.Config{Owner: owner, Name: name, Token: token("x"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return driver
}

func TestPublishedWebhooksWakeWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	wakes := map[string]int{}
	for event, all := range examples(t) {
		for _, body := range all {
			var about struct {
				Action     string
				Repository struct {
					FullName string `json:"full_name"`
				}
				Number     int
				Issue      struct{ Number int }
				Pull       struct{ Number int } `json:"pull_request"`
				Run, Suite struct{ Head string }
				SHA        string
				Sender     struct{ Type string }
			}
			ok(t, json.Unmarshal(body, &about))
			path := about.Repository.FullName
			if path == "" { // an organization's ping
				path = "octo/none"
			}
			wake, err := hooked(t, path).Webhook(delivery(event, sign(body)), bytes.NewReader(body), secret)
			if path == "octo/none" {
				wantIs(t, err, forge.ErrForeign)
				continue
			}
			ok(t, err)
			if wake.Event != event || wake.Delivery == "" {
				t.Errorf("%s is %+v", event, wake)
			}
			if !wake.Nothing() {
				wakes[event]++
			}
			number := max(about.Issue.Number, about.Pull.Number)
			if number > 0 && event != "discussion_comment" && !slices.Contains(wake.Numbers, number) && wake.Commit == "" {
				t.Errorf("%s about %d wakes %v", event, number, wake.Numbers)
			}
			starts := event == "issue_comment" && about.Action == "created" || (event == "issues" || event == "pull_request") && about.Action == "labeled"
			if wake.MayStart != (starts && about.Sender.Type != "Bot") {
				t.Errorf("%s %s by a %s may start: %v", event, about.Action, about.Sender.Type, wake.MayStart)
			}
		}
	}
	for _, silent := range []string{"push", "ping", "star", "discussion_comment"} {
		if wakes[silent] > 0 {
			t.Errorf("%s wakes", silent)
		}
	}
	for _, loud := range []string{
		"check_run", "check_suite", "issue_comment", "issues", "pull_request", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread", "status",
	} {
		if wakes[loud] == 0 {
			t.Errorf("no %s wakes", loud)
		}
	}
}

func TestOnlyAPersonsNewCommentOrLabelMayStart(t *testing.T) {
	t.Parallel()
	driver := hooked(t, "o/n")
	const person, bot = `{"login":"ada","type":"User"}`, `{"login":"x[bot]","type":"Bot"}`
	comment := func(action, author, sender, more string) string {
		return `{"action":"` + action + `","issue":{"number":3},"comment":{"user":` + author + more + `},"sender":` + sender + `,"repository":{"full_name":"O/N"}}`
	}
	for name, c := range map[string]struct {
		event, body string
		want        bool
	}{
		"a comment":             {"issue_comment", comment("created", person, person, ""), true},
		"an edited comment":     {"issue_comment", comment("edited", person, person, ""), false},
		"a deleted comment":     {"issue_comment", comment("deleted", person, person, ""), false},
		"a bot's comment":       {"issue_comment", comment("created", bot, bot, ""), false},
		"sent by a bot":         {"issue_comment", comment("created", person, bot, ""), false},
		"by an application":     {"issue_comment", comment("created", person, person, `,"performed_via_github_app":{"id":1}`), false},
		"by no application":     {"issue_comment", comment("created", person, person, `,"performed_via_github_app":null`), true},
		"a label":               {"issues", `{"action":"labeled","issue":{"number":3},"sender":` + person + `,"repository":{"full_name":"o/n"}}`, true},
		"a bot's label":         {"issues", `{"action":"labeled","issue":{"number":3},"sender":` + bot + `,"repository":{"full_name":"o/n"}}`, false},
		"a label taken away":    {"issues", `{"action":"unlabeled","issue":{"number":3},"sender":` + person + `,"repository":{"full_name":"o/n"}}`, false},
		"opened":                {"issues", `{"action":"opened","issue":{"number":3},"sender":` + person + `,"repository":{"full_name":"o/n"}}`, false},
		"a comment on the line": {"pull_request_review_comment", `{"action":"created","pull_request":{"number":3},"sender":` + person + `,"repository":{"full_name":"o/n"}}`, false},
	} {
		got, err := driver.Webhook(delivery(c.event, sign([]byte(c.body))), strings.NewReader(c.body), secret)
		if err != nil || got.MayStart != c.want || !slices.Equal(got.Numbers, []int{3}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestForgedAndForeignWebhooksAreRefused(t *testing.T) {
	t.Parallel()
	driver := hooked(t, "o/n")
	body := []byte(`{"action":"created","issue":{"number":3},"comment":{"user":{"type":"User"}},"repository":{"full_name":"o/n"}}`)
	right := sign(body)
	if _, err := driver.Webhook(delivery("issue_comment", right), bytes.NewReader(body), secret); err != nil {
		t.Fatal(err)
	}
	for name, signature := range map[string]string{
		"none": "", "no algorithm": right[7:], "sha1": "sha1=" + right[7:47], "cut": right[:70], "longer": right + "00", "not hex": "sha256=zz", "another": sign([]byte("x")),
	} {
		if _, err := driver.Webhook(delivery("issue_comment", signature), bytes.NewReader(body), secret); !errors.Is(err, forge.ErrForged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := driver.Webhook(delivery("issue_comment", right), bytes.NewReader(append(body, ' ')), secret)
	wantIs(t, err, forge.ErrForged)
	empty := hmac.New(sha256.New, nil)
	empty.Write(body)
	_, err = driver.Webhook(delivery("issue_comment", "sha256="+hex.EncodeToString(empty.Sum(nil))), bytes.NewReader(body), "")
	wantIs(t, err, forge.ErrForged)
	for _, foreign := range []string{`{"issue":{"number":3},"repository":{"full_name":"o/n2"}}`, `{"issue":{"number":3}}`, `{}`} {
		_, err := driver.Webhook(delivery("issues", sign([]byte(foreign))), strings.NewReader(foreign), secret)
		wantIs(t, err, forge.ErrForeign)
	}
	for _, broken := range []string{"", "payload=%7B%7D", "[]", `{"repository":`} {
		if wake, err := driver.Webhook(delivery("issues", sign([]byte(broken))), strings.NewReader(broken), secret); err == nil {
			t.Errorf("%q gives %+v", broken, wake)
		}
	}
	if _, err := driver.Webhook(delivery("issues", ""), strings.NewReader(strings.Repeat("x", 11<<20)), secret); err == nil || errors.Is(err, forge.ErrForged) {
		t.Errorf("11 MB give %v", err)
	}
}

func FuzzWebhook(f *testing.F) {
	for event, all := range examples(f) {
		f.Add(event, []byte(all[0]))
	}
	f.Add("issue_comment", []byte(`{"issue":{"number":-1},"repository":{"full_name":"o/n"}}`))
	f.Add("status", []byte(`{"sha":"../../x","repository":{"full_name":"o/n"}}`))
	driver := hooked(f, "Codertocat/Hello-World")
	f.Fuzz(func(t *testing.T, event string, body []byte) {
		if _, err := driver.Webhook(delivery(event, "sha256=00"), bytes.NewReader(body), secret); err == nil {
			t.Error("an unsigned message is accepted")
		}
		wake, err := driver.Webhook(delivery(event, sign(body)), bytes.NewReader(body), secret)
		if err != nil && (wake.MayStart || !wake.Nothing()) {
			t.Errorf("%v, and %+v", err, wake)
		}
		if wake.MayStart && len(wake.Numbers) == 0 {
			t.Errorf("nothing may start: %+v", wake)
		}
		for _, n := range wake.Numbers {
			if n <= 0 {
				t.Errorf("number %d", n)
			}
		}
		if wake.Commit != "" && len(wake.Commit) != 40 && len(wake.Commit) != 64 {
			t.Errorf("commit %q", wake.Commit)
		}
	})
}
