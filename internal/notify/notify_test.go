package notify_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/notify"
	"signalbox/internal/process"
)

var message = notify.Message{Project: "parser", Request: 42, State: "NEEDS_INPUT", Title: "#42 needs you: é", Detail: "the change is ready",
	Next: "signalbox approve 42", Urgent: true}

func TestEveryWayGetsTheMessage(t *testing.T) {
	t.Parallel()
	posted := make(chan *http.Request, 2)
	bodies := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posted <- r
		bodies <- string(body)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "got.json")
	c := notify.Config{Command: []string{"sh", "-c", `cat >"$1"`, "sh", file}, Webhook: server.URL + "/hook", Ntfy: server.URL + "/topic",
		Exec: process.Host{}}
	if err := c.Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	var got notify.Message
	if err != nil || json.Unmarshal(data, &got) != nil || got.Request != 42 || !strings.Contains(got.Text, "signalbox approve 42") {
		t.Errorf("the command got %s, %v", data, err)
	}
	if r, body := <-posted, <-bodies; r.URL.Path != "/hook" || r.Method != http.MethodPost || !strings.Contains(body, `"content":"#42 needs you`) {
		t.Errorf("the webhook got %s %s: %s", r.Method, r.URL, body)
	}
	r, body := <-posted, <-bodies
	if r.URL.Path != "/topic" || r.Header.Get("Priority") != "high" || !strings.HasPrefix(body, "#42 needs you: é\n") {
		t.Errorf("ntfy got %v: %s", r.Header, body)
	}
}

func TestAProgramOfTheProjectIsFoundFromAnyFolder(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "tell.sh"), []byte("#!/bin/sh\ncat >told\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := notify.Config{Command: []string{"./tell.sh"}, Dir: project, Exec: process.Host{}}
	if err := c.Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(project, "told")); err != nil {
		t.Error(err)
	}
}

func TestAFailureNamesTheWayAndNoAddress(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	refused := server.URL
	server.Close()
	answering := httptest.NewServer(http.NotFoundHandler())
	defer answering.Close()
	c := notify.Config{Command: []string{"sh", "-c", "echo no bus >&2; exit 3"}, Webhook: refused + "/services/hidden", Ntfy: answering.URL + "/hidden",
		Exec: process.Host{}}
	err := c.Send(t.Context(), message)
	for _, want := range []string{`notify with "sh": exit code 3: no bus`, "notify by webhook: ", "connection refused", "notify by ntfy: the server answers 404"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "hidden") {
		t.Errorf("the error names an address: %v", err)
	}
}
