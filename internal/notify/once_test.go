package notify_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"signalbox/internal/notify"
	"signalbox/internal/process"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// notifySend is the program of that name.
type notifySend struct{ args []string }

func (n *notifySend) Exec(_ context.Context, c process.Command) (process.Result, error) {
	n.args = c.Args
	return process.Result{Ending: process.Exited}, nil
}

func TestATitleCallsNoChannelAndHidesNoAddress(t *testing.T) {
	t.Parallel()
	got := make(chan map[string]any, 2)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body := map[string]any{"path": r.URL.Path}
		_ = json.NewDecoder(r.Body).Decode(&body)
		got <- body
	}))
	defer server.Close()
	hostile := notify.Message{Title: "<!channel> @everyone [here](https://evil.example)", Detail: "x & y <img src=x>", URL: "http://127.0.0.1:7411/p/a/runs/b"}
	var desktop notifySend
	c := notify.Config{Slack: server.URL + "/slack", Discord: server.URL + "/discord", Desktop: true, Exec: &desktop}
	if err := c.Send(t.Context(), hostile); err != nil {
		t.Fatal(err)
	}
	if body := desktop.args[len(desktop.args)-1]; body != "x &amp; y &lt;img src=x&gt;\nhttp://127.0.0.1:7411/p/a/runs/b" {
		t.Errorf("the desktop got %q", body)
	}
	slack, discord := <-got, <-got
	if slack["text"] != "&lt;!channel&gt; @everyone [here](https://evil.example)\nx &amp; y &lt;img src=x&gt;\nhttp://127.0.0.1:7411/p/a/runs/b" {
		t.Errorf("Slack got %v", slack)
	}
	none, _ := discord["allowed_mentions"].(map[string]any)
	if discord["content"] != `\<!channel\> @everyone \[here\]\(https://evil.example)`+"\nx & y "+`\<img src=x\>`+"\nhttp://127.0.0.1:7411/p/a/runs/b" || len(none["parse"].([]any)) != 0 {
		t.Errorf("Discord got %v", discord)
	}
}

func TestNewsIsClaimedOnceByAllProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	run := workflow.Run{RunID: "20260101-120000-abcdef"}
	at := func(transition int, news string) (claims int32) {
		var all sync.WaitGroup
		run.Details.Transition = transition
		var claimed atomic.Int32
		for range 4 { // each with a store of its own, as processes have
			all.Go(func() {
				s, err := store.Open(t.Context(), store.Config{Root: dir})
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = s.Close() }()
				if mine, err := notify.Claim(t.Context(), s, &run, news); err != nil {
					t.Error(err)
				} else if mine {
					claimed.Add(1)
				}
			})
		}
		all.Wait()
		return claimed.Load()
	}
	for _, c := range []struct {
		transition int
		news       string
		want       int32
	}{{1, "", 0}, {3, "needed head1", 1}, {4, "needed head1", 0}, {6, "", 0}, {5, "needed head1", 0}, {7, "needed head1", 1}, {8, "merged", 1}, {8, "merged", 0}} {
		if got := at(c.transition, c.news); got != c.want {
			t.Errorf("at transition %d, %q was claimed %d times, want %d", c.transition, c.news, got, c.want)
		}
	}
}
