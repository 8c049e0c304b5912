package session

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/egress"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/session/terminal"
)

// entrance knows places of the form "clone ROOT COMMIT", and one whose agent asks.
func entrance(ctx context.Context, place string) (process.Executor, func() error, error) {
	switch place {
	case "asks":
		return asker{}, func() error { return nil }, nil
	case "asks late":
		return late{}, func() error { return nil }, nil
	}
	words := strings.Fields(place)
	if len(words) != 3 || words[0] != "clone" {
		return nil, nil, fmt.Errorf("there is no place %q", place)
	}
	repo, err := git.Open(ctx, process.Host{}, words[1])
	if err != nil {
		return nil, nil, err
	}
	d := clone.New(clone.Config{Repo: repo, Exec: process.Host{}, Root: words[1], State: filepath.Join(words[1], ".signalbox", "environments"),
		Variables: []string{"PATH=" + os.Getenv("PATH")}, Network: egress.None})
	e, err := d.Make(ctx, environment.Spec{ID: "env-42", Dir: ".worktrees/issue-42-x", Commit: words[2], Branch: "signalbox/42-x"})
	return e, func() error { return nil }, err
}

func newRepository(t *testing.T, root string) (commit string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"}, {"rev-parse", "HEAD"}} {
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		commit = strings.TrimSpace(string(out))
	}
	return commit
}

func TestAgentInASandboxWithoutNetworkIsHeardAndReports(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"marker": "pwd; echo '" + done + "'",
		"report": "pwd; " + reporter(t, "complete"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSessions(t)
			c := shell(42, Terminal, script)
			c.Place, c.Env, c.Reads = "clone "+s.Root+" "+newRepository(t, s.Root), []string{"TERM=xterm"}, []string{program}
			x := started(t, s, c)
			info := ended(t, x)
			if info.Outcome.Kind != terminal.Complete {
				t.Errorf("came to %+v: %q, %q", info.Outcome, output(t, x), info.Notes)
			}
			if text := output(t, x); !strings.HasPrefix(text, "/") || strings.Contains(text, s.Root) {
				t.Errorf("it ran on the host: %q", text)
			}
		})
	}
}
