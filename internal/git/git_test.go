package git_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/git"
	"signalbox/internal/process"
)

// The user's own configuration in these tests: a filter that a checkout needs,
// and signing, which would stop every commit of ours if it took part.
const userConfig = `
[user]
	name = Ada
	email = ada@example.org
[init]
	defaultBranch = main
[filter "shout"]
	smudge = tr a-z A-Z
	clean = tr A-Z a-z
[commit]
	gpgSign = true
[gpg]
	program = /nonexistent
`

func TestMain(m *testing.M) {
	if os.Getenv("SIGNALBOX_TEST_SYNC") != "" {
		syncAndDie()
	}
	home, err := os.MkdirTemp("", "signalbox-git-home-")
	if err != nil {
		panic(err)
	}
	_ = os.Setenv("HOME", home)
	_ = os.Unsetenv("XDG_CONFIG_HOME")
	_ = os.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(userConfig), 0o600); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(home)
	os.Exit(code)
}

// project is a repository as a user would have it, driven by plain git.
type project struct {
	t   *testing.T
	dir string
}

func newProject(t *testing.T) project {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := project{t: t, dir: dir}
	p.git("init", "-q")
	return p
}

func (p project) git(args ...string) string {
	p.t.Helper()
	command := exec.CommandContext(p.t.Context(), "git", append([]string{"-c", "commit.gpgSign=false", "-c", "advice.detachedHead=false"}, args...)...)
	command.Dir = p.dir
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		p.t.Fatalf("git %q: %v: %s", args, err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// gitInput runs git with something to read.
func (p project) gitInput(input string, args ...string) string {
	p.t.Helper()
	command := exec.CommandContext(p.t.Context(), "git", args...)
	command.Dir, command.Stdin = p.dir, strings.NewReader(input)
	out, err := command.Output()
	if err != nil {
		p.t.Fatalf("git %q: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

func (p project) write(name, content string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p project) read(name string) string {
	p.t.Helper()
	content, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(content)
}

// commit commits everything that is in the folder.
func (p project) commit(message string) string {
	p.t.Helper()
	p.git("add", "-A")
	p.git("commit", "-q", "--allow-empty", "-m", message)
	return p.git("rev-parse", "HEAD")
}

func (p project) open() *git.Repo { return p.openWith(process.Host{}) }

func (p project) openWith(executor process.Executor) *git.Repo {
	p.t.Helper()
	repo, err := git.Open(p.t.Context(), executor, p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	return repo
}

func must[T any](value T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

var (
	robot = git.Identity{Name: "Signalbox", Email: "signalbox@localhost"}
	noon  = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
)
