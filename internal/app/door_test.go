package app_test

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"signalbox/internal/app"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// A front end in sixty lines: it lists, starts, approves and follows a run through app alone.
func TestAFrontEndNeedsNothingButApp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"greeting.txt":           "hello\n",
		"agent.sh":               "cat >/dev/null\necho hello world >greeting.txt\n",
		"requests/greet.md":      "---\nid: RQ-20260101-007\nnumber: 7\ntitle: Greet the world\ntests: grep -q world greeting.txt\n---\n\nSay hello to the world.\n",
		".signalbox/config.yaml": "workflow: simple\nagents:\n  shell:\n    driver: command\n    command: [sh, ./agent.sh]\n",
	} {
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
	opener := &app.Opener{Env: os.Getenv, Dir: dir, Log: slog.New(slog.DiscardHandler), Warn: t.Logf, Mended: func(string, []string) {}, Learn: func(*redact.Redactor) {}}
	opener.Overrides.Unsandboxed, opener.Overrides.Trust = true, true
	project, err := app.Open(t.Context(), opener)
	if err != nil {
		t.Fatal(err)
	}
	listed := func() app.Listing {
		lines, broken, err := project.List(t.Context(), false)
		if err != nil || broken != nil || len(lines) != 1 {
			t.Fatalf("listed %v, %v, %v", lines, broken, err)
		}
		return lines[0]
	}
	if l := listed(); l.Number != 7 || l.State != "" {
		t.Fatalf("before it began: %+v", l)
	}
	var phases []workflow.Phase
	watch := func(*app.App) func(workflow.Run) {
		return func(r workflow.Run) { phases = append(phases, r.Details.Phase) }
	}
	begun, err := project.StartRuns(t.Context(), []string{"7"}, watch)
	if err != nil || begun[0].Err != nil || begun[0].Run.State != workflow.NeedsInput || listed().Phase != "approval-wait" {
		t.Fatalf("started: %+v, %v", begun, err)
	}
	if _, err := project.Give(t.Context(), "7", app.Approve("0123456789"), watch); err == nil {
		t.Fatal("agreed to a change that nobody made")
	}
	done, err := project.Give(t.Context(), "7", app.Approve(""), watch)
	if err != nil || done.Carried[0].Run.State != workflow.Done || !slices.Contains(phases, workflow.MergeCleanup) {
		t.Fatalf("approved: %+v, %v, %v", done, phases, err)
	}
	followed, err := project.Watched(t.Context(), []string{"7"}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if runs, err := project.Follow(t.Context(), followed, func(*workflow.Run) {}); err != nil || runs[0].State != workflow.Done || listed().State != workflow.Done {
		t.Fatalf("followed: %v, %v", runs, err)
	}
}
