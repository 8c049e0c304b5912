package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// A program that follows the documents gets nothing but lines of JSON, each document without secrets.
func TestWatchPrintsALineForEveryChangedDocument(t *testing.T) {
	t.Parallel()
	root := documented(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	watch := exec.CommandContext(ctx, program(t), "document", "watch")
	watch.Dir, watch.Env = root, append(os.Environ(), "FORGE_TOKEN=hunter2-and-more")
	out, ready := pipes(t, watch)
	if line, err := ready.ReadString('\n'); err != nil || !strings.HasPrefix(line, "watching ") {
		t.Fatalf("%q, %v", line, err)
	}
	lines := json.NewDecoder(out)
	for _, c := range []struct {
		do   []string
		path string
		want string
	}{
		{[]string{"issue", "set", "42", "running"}, ".worktrees/.status/42.json", `"status":"running"`},
		{[]string{"issue", "set", "42", "error", "hunter2-and-more"}, ".worktrees/.status/42.json", `"error_message":"[redacted]"`},
		{[]string{"issue", "remove", "42"}, ".worktrees/.status/42.json", ""},
		{[]string{"env", "touch", "abc-123"}, "environments.json", `"reviewed_by":"ada"`},
		{nil, stagePath, `"notes":"look at this"`},
	} {
		if c.do == nil {
			if err := leaveNote(t, root); err != nil {
				t.Fatal(err)
			}
		} else if text, code := said(t, root, c.do...); code != 0 {
			t.Fatalf("%q: exit code %d: %s", c.do, code, text)
		}
		var news struct {
			Path, Kind string
			At         time.Time
			Document   json.RawMessage
			Removed    bool
		}
		if err := lines.Decode(&news); err != nil {
			t.Fatal(err)
		}
		if news.Path != c.path || news.At.IsZero() || !strings.Contains(string(news.Document), c.want) || news.Removed != (c.want == "") {
			t.Errorf("after %q: %+v %s, want %s", c.do, news, news.Document, c.want)
		}
	}
	if err := errors.Join(watch.Process.Signal(os.Interrupt), watch.Wait()); err != nil {
		t.Errorf("interrupted: %v", err)
	}
}

func pipes(t *testing.T, cmd *exec.Cmd) (out, errs *bufio.Reader) {
	t.Helper()
	stdout, err := cmd.StdoutPipe()
	stderr, err2 := cmd.StderrPipe()
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return bufio.NewReader(stdout), bufio.NewReader(stderr)
}

func leaveNote(t *testing.T, root string) error {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Root: root})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	note := "look at this"
	return s.Signal(t.Context(), hostileRef, func(g *workflow.Signals) error { g.Notes = &note; return nil })
}
