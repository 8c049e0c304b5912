package cli_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/cli"
	"signalbox/internal/cli/command"
)

// At a terminal a command that obeys the configuration shows the list and asks, once.
func TestATerminalAsksOnceBeforeAStrangersConfigurationCounts(t *testing.T) {
	t.Parallel()
	dir, state := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, ".signalbox/config.yaml"), "agents: {it: {driver: command, command: [./evil, \"a\\u202eb\\nc\"]}}\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=Eve", "-c", "user.email=eve@localhost", "commit", "-q", "-m", "Begin"}} {
		c := exec.CommandContext(t.Context(), "git", args...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	signalbox := func(typed string, args ...string) (said string, code int) {
		var out bytes.Buffer
		code = cli.Main(t.Context(), args, command.Streams{In: strings.NewReader(typed), Out: &out, Err: &out, Terminal: true, Dir: dir,
			Width: func() int { return 80 }, Env: func(name string) string {
				return map[string]string{"XDG_STATE_HOME": state, "HOME": state}[name]
			}})
		return out.String(), code
	}
	for _, refusal := range []string{"n\n", "\n", "", "yess\n"} {
		if said, code := signalbox(refusal, "run", "1"); code != 10 || !strings.Contains(said, "[y/N]") || !strings.Contains(said, `\u202e`) || strings.Contains(said, "\u202e") {
			t.Errorf("answer %q: exit code %d, %s", refusal, code, said)
		}
	}
	// Request 1 does not exist: a run that gets as far as looking for it was let through.
	if said, code := signalbox("y\n", "run", "1"); code != 6 || !strings.Contains(said, "[y/N]") {
		t.Errorf("exit code %d, want 6 after the question: %s", code, said)
	}
	if said, code := signalbox("", "run", "1"); code != 6 || strings.Contains(said, "[y/N]") {
		t.Errorf("exit code %d, want 6 without a question: %s", code, said)
	}
}

// The remote is no part of the files: agreeing to a forge is agreeing to the server that the remote named then.
func TestAForgeIsAgreedToWithTheServerOfItsRemote(t *testing.T) {
	t.Parallel()
	dir, state := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, ".signalbox/config.yaml"), "forge: {driver: gitea}\n")
	git := func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "git", args...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	signalbox := func(args ...string) (said string, code int) {
		var out bytes.Buffer
		code = cli.Main(t.Context(), args, command.Streams{In: strings.NewReader(""), Out: &out, Err: &out, Dir: dir,
			Env: func(name string) string { return map[string]string{"XDG_STATE_HOME": state, "HOME": state}[name] }})
		return out.String(), code
	}
	git("init", "-q", "-b", "main")
	git("-c", "user.name=Ada", "-c", "user.email=ada@localhost", "commit", "-q", "--allow-empty", "-m", "Begin")
	git("remote", "add", "origin", "https://git.example.org/ada/engine.git")
	if said, code := signalbox("trust", "--yes"); code != 0 || !strings.Contains(said, "gitea at https://git.example.org/ada/engine\n") {
		t.Fatalf("exit code %d: %s", code, said)
	}
	if said, _ := signalbox("trust", "--show"); !strings.Contains(said, "you agreed to exactly this") {
		t.Errorf("asked again without a change: %s", said)
	}
	git("remote", "set-url", "origin", "https://evil.example.org/ada/engine.git")
	if said, code := signalbox("run", "1"); code != 10 || !strings.Contains(said, "+ forge.driver: gitea at https://evil.example.org/ada/engine\n") {
		t.Errorf("exit code %d after the remote moved: %s", code, said)
	}
}
