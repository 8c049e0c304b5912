// Package apptest makes small projects for tests of app and of front ends.
package apptest

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"signalbox/internal/app"
	"signalbox/internal/redact"
)

// Greeting is a project whose scripted agent carries request 7 to an approval. It uses no isolation.
var Greeting = map[string]string{
	"greeting.txt":           "hello\n",
	"agent.sh":               "cat >/dev/null\necho hello world >greeting.txt\n",
	"requests/greet.md":      "---\nid: RQ-20260101-007\nnumber: 7\ntitle: Greet the world\ntests: grep -q world greeting.txt\n---\n\nSay hello to the world.\n",
	".signalbox/config.yaml": "workflow: simple\nagents:\n  shell:\n    driver: command\n    command: [sh, ./agent.sh]\n",
}

// Make commits files, by their paths, to the main branch of a new repository and returns its folder.
func Make(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "--initial-branch=main"}, {"config", "user.name", "A"}, {"config", "user.email", "a@localhost"},
		{"config", "commit.gpgsign", "false"}, {"add", "."}, {"commit", "-q", "-m", "Begin"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	return dir
}

// Opener opens the project in dir as its user would who trusts it.
func Opener(dir string) *app.Opener {
	opener := &app.Opener{Env: os.Getenv, Dir: dir, Log: slog.New(slog.DiscardHandler), Warn: func(string, ...any) {}, Mended: func(string, []string) {}, Learn: func(*redact.Redactor) {}}
	opener.Overrides.Unsandboxed, opener.Overrides.Trust = true, true
	return opener
}

// Open opens the project in dir until the test ends.
func Open(t testing.TB, dir string) *app.App {
	t.Helper()
	opener := Opener(dir)
	opener.Warn = t.Logf
	project, err := app.Open(t.Context(), opener)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = project.Store.Close() })
	return project
}
