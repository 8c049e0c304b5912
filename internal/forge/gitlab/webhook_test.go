package gitlab_test

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/gitlab"
)

const secret = "it's a secret to everybody"

var hookTime = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// published are GitLab's own examples, by name.
func published(t testing.TB) (found map[string]json.RawMessage) {
	t.Helper()
	file, err := os.Open("testdata/webhooks.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err == nil {
		err = json.NewDecoder(unpacked).Decode(&found)
	}
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func hooked(t testing.TB, path string) *gitlab.Server {
	t.Helper()
	driver, err := gitlab.New(gitlab.Config{URL: "https://gitlab.example.com", Path: path, Token: token("x"), Now: func() time.Time { return hookTime }})
	if err != nil {
		t.Fatal(err)
	}
	return driver
}

func delivered(pairs ...string) http.Header {
	h := http.Header{}
	h.Set("X-Gitlab-Event", "Note Hook")
	h.Set("Idempotency-Key", "72d3162e-cc78-11e3-81ab-4c9367dc0958")
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func TestPublishedWebhooksWakeWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	want := map[string]forge.Wake{
		"note_issue":            {Numbers: []int{17}, MayStart: true},
		"note_merge_request":    {Numbers: []int{1}, MayStart: true},
		"issue":                 {Numbers: []int{23}, MayStart: true},
		"merge_request":         {Numbers: []int{1}, MayStart: true},
		"service_merge_request": {Numbers: []int{2}},
		"pipeline":              {Numbers: []int{1}, Commit: "bcbb5ec396a2c0f828686f14fac9b80b780504f2"},
		"job":                   {Commit: "95d49d1efbd941908580e79d65e4b5ecaf4a8305"},
		"build":                 {Commit: "2293ada6b400935a1378653304eaf6221e0fdb8f"},
	}
	seen := 0
	for name, body := range published(t) {
		var about struct {
			Project struct {
				Path string `json:"path_with_namespace"`
			}
		}
		_ = json.Unmarshal(body, &about)
		if about.Project.Path == "" {
			continue // of a group, or of GitLab's old form, which names no path
		}
		got, err := hooked(t, about.Project.Path).Webhook(delivered("X-Gitlab-Token", secret), bytes.NewReader(body), secret)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		w, ok := want[name]
		if ok {
			seen++
		}
		if got.Event != "Note Hook" || got.Delivery != "72d3162e-cc78-11e3-81ab-4c9367dc0958" || got.Commit != w.Commit || got.MayStart != w.MayStart || len(got.Numbers) != len(w.Numbers) || len(w.Numbers) > 0 && got.Numbers[0] != w.Numbers[0] || len(got.On) != len(got.Numbers) ||
			len(got.On) > 0 && got.On[0] != (forge.Subject{Number: got.Numbers[0], Pull: name != "note_issue" && name != "issue"}) {
			t.Errorf("%s wakes %+v, want %+v", name, got, w)
		}
	}
	if seen < 5 {
		t.Errorf("only %d of the examples are as they were", seen)
	}
}

// note is a comment's message.
func note(author, action string, system bool) []byte {
	body, _ := json.Marshal(map[string]any{
		"object_kind": "note", "user": map[string]any{"username": author}, "project": map[string]any{"path_with_namespace": "Octo/Engine"},
		"object_attributes": map[string]any{"action": action, "system": system}, "issue": map[string]any{"iid": 7},
	})
	return body
}

func TestOnlyANewCommentOfAPersonMayStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body []byte
		may  bool
	}{
		"new": {note("ada", "create", false), true}, "of an old server": {note("ada", "", false), true}, "edited": {note("ada", "update", false), false},
		"of a program": {note("project_7_bot_1f", "create", false), false}, "of GitLab": {note("ada", "create", true), false},
	} {
		got, err := hooked(t, "octo/engine").Webhook(delivered("X-Gitlab-Token", secret), bytes.NewReader(c.body), secret)
		if err != nil || got.MayStart != c.may || len(got.Numbers) != 1 || got.Numbers[0] != 7 {
			t.Errorf("%s wakes %+v, %v", name, got, err)
		}
	}
}

// signature is that of a message with a signing token.
func signature(key []byte, id string, at time.Time, body []byte) (stamp, signed string) {
	stamp = strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + stamp + "."))
	mac.Write(body)
	return stamp, "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func TestForgedAndForeignWebhooksWakeNothing(t *testing.T) {
	t.Parallel()
	body := note("ada", "create", false)
	key := []byte("0123456789abcdef")
	standard := "whsec_" + base64.StdEncoding.EncodeToString(key)
	signed := func(key []byte, at time.Time, tamper ...string) http.Header {
		stamp, mark := signature(key, "id-1", at, body)
		return delivered(append([]string{"Webhook-Id", "id-1", "Webhook-Timestamp", stamp, "Webhook-Signature", mark}, tamper...)...)
	}
	for name, c := range map[string]struct {
		header http.Header
		body   []byte
		secret string
		want   error
	}{
		"token":                 {delivered("X-Gitlab-Token", secret), body, secret, nil},
		"no token":              {delivered(), body, secret, forge.ErrForged},
		"wrong token":           {delivered("X-Gitlab-Token", secret+"x"), body, secret, forge.ErrForged},
		"no secret":             {delivered("X-Gitlab-Token", ""), body, "", forge.ErrForged},
		"signed":                {signed([]byte(secret), hookTime), body, secret, nil},
		"signed, standard":      {signed(key, hookTime), body, standard, nil},
		"signed, second of two": {signed(key, hookTime, "Webhook-Signature", "v1,AAAA "+second(signature(key, "id-1", hookTime, body))), body, standard, nil},
		"signed by another":     {signed([]byte("other"), hookTime), body, secret, forge.ErrForged},
		"signed for another id": {signed(key, hookTime, "Webhook-Id", "id-2"), body, standard, forge.ErrForged},
		"signed long ago":       {signed(key, hookTime.Add(-6*time.Minute)), body, standard, forge.ErrForged},
		"signed without a time": {signed(key, hookTime, "Webhook-Timestamp", ""), body, standard, forge.ErrForged},
		"another body, signed":  {signed(key, hookTime), note("eve", "create", false), standard, forge.ErrForged},
		"bad signature, token":  {signed([]byte("other"), hookTime, "X-Gitlab-Token", secret), body, secret, forge.ErrForged},
		"foreign":               {delivered("X-Gitlab-Token", secret), bytes.ReplaceAll(body, []byte("Octo/Engine"), []byte("octo/other")), secret, forge.ErrForeign},
		"of no project":         {delivered("X-Gitlab-Token", secret), []byte(`{}`), secret, forge.ErrForeign},
	} {
		got, err := hooked(t, "octo/engine").Webhook(c.header, bytes.NewReader(c.body), c.secret)
		if !errors.Is(err, c.want) || (err == nil) == got.Nothing() {
			t.Errorf("%s: %+v, %v, want %v", name, got, err, c.want)
		}
	}
	if _, err := hooked(t, "octo/engine").Webhook(delivered("X-Gitlab-Token", secret), strings.NewReader(strings.Repeat(" ", 11<<20)), secret); err == nil {
		t.Error("a message of 11 MB was read")
	}
}

func second(_, signed string) string { return signed }

func FuzzWebhook(f *testing.F) {
	for _, body := range published(f) {
		f.Add([]byte(body))
	}
	for _, body := range []string{`null`, `[]`, `{"object_kind":"note","issue":null,"project":{"path_with_namespace":"octo/engine"}}`, `{"object_attributes":{"iid":-7}}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		wake, err := hooked(t, "octo/engine").Webhook(delivered("X-Gitlab-Token", secret), bytes.NewReader(body), secret)
		if err != nil && !wake.Nothing() || wake.Nothing() && wake.MayStart || len(wake.Numbers) > 0 && wake.Numbers[0] <= 0 || len(wake.Commit) != 0 && len(wake.Commit) < 40 {
			t.Errorf("%q gives %+v, %v", body, wake, err)
		}
	})
}
