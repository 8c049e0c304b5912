package agent_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// host runs commands on this machine.
type host struct{}

func (host) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	return process.Run(ctx, c)
}

func TestAProgramFindsItsFilesAndItsLogin(t *testing.T) {
	t.Parallel()
	home, login := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(login, "token"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	program := agent.Program{Agent: "a", Env: []string{"HOME=" + home, "PATH=/usr/bin:/bin"},
		Args:  []string{"/bin/sh", "-c", `cat "$HOME/.own/token" "$HOME/.config/x y"/*; touch made; stat -c %a made`},
		Files: map[string]string{"~/.config/x y/'$(id)'.json": "{\"a\": \"$HOME `id`\\n\"}\n"}}
	for range 2 { // it is the same HOME at the next call
		var log bytes.Buffer
		result, err := program.Run(t.Context(), agent.Task{Role: "implementer", Dir: t.TempDir(), Log: &log, Total: time.Minute, OutputLimit: 1 << 20,
			Login: map[string]string{"~/.own": login}}, host{})
		if want := "secret{\"a\": \"$HOME `id`\\n\"}\n644"; err != nil || result.Failure != nil || result.Answer != want {
			t.Errorf("got %q, %+v, %v; want %q", result.Answer, result.Failure, err, want)
		}
	}
}

// A folder that an agent made while it had no login is moved aside for the login, and comes back.
func TestALoginComesAndGoes(t *testing.T) {
	t.Parallel()
	home, login := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{filepath.Join(home, ".own", "kept"): "ours", filepath.Join(login, "kept"): "the person's"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := agent.Program{Agent: "a", Env: []string{"HOME=" + home, "PATH=/usr/bin:/bin"}, Args: []string{"/bin/sh", "-c", `cat "$HOME/.own/kept"`}}
	for _, c := range []struct{ path, want string }{{"", "ours"}, {login, "the person's"}, {login, "the person's"}, {"", "ours"}, {login, "the person's"}, {"", "ours"}} {
		var log bytes.Buffer
		result, err := program.Run(t.Context(), agent.Task{Role: "implementer", Dir: t.TempDir(), Log: &log, Total: time.Minute, OutputLimit: 1 << 20,
			Login: map[string]string{"~/.own": c.path}}, host{})
		if err != nil || result.Failure != nil || result.Answer != c.want {
			t.Errorf("with %q: got %q, %+v, %v; want %q", c.path, result.Answer, result.Failure, err, c.want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(login, "kept")); err != nil || string(text) != "the person's" {
		t.Errorf("the person's file is %q, %v", text, err)
	}
}
