package environmenttest

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"signalbox/internal/environment"
	"signalbox/internal/git"
)

// Project is a real repository with one commit, its checkout, and ignored files beside it.
type Project struct {
	// Root is the checkout.
	Root string
	// Commit is the one commit, on branch main.
	Commit string
}

// Variables are the allowed variables of every driver under test.
var Variables = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "SIGNALBOX_TEST_ALLOWED=yes"}

// Identity is the author of every commit that a driver under test records, independent of this machine's git settings.
var Identity = git.Identity{Name: "A Recorder", Email: "recorder@example.org"}

// tracked is the content of the commit.
var tracked = map[string]string{
	"README.md":        "a project\n",
	".gitignore":       "build/\n.env\nlocal/\n",
	".worktreeinclude": ".env\nlocal/*.conf\nREADME.md\nlink.conf\nnotes.txt\n",
	"src/app.txt":      "one\ntwo\n",
	"src/binary":       "\x00\x01\xff\r\n\x00",
	"run.sh":           "#!/bin/sh\necho run\n",
}

// ignored are files in the checkout that are not in the commit.
var ignored = map[string]string{
	".env":              "KEY=value\n",
	"local/a b[1].conf": "local\n",
	"local/other.txt":   "not listed\n",
	"build/out":         "built\n",
}

// NewProject makes a repository in a temporary folder: a copy of the first one, which needs no git.
func NewProject(t testing.TB) *Project {
	t.Helper()
	first.Do(func() { first.files, first.commit = newProject(t) })
	p := &Project{Root: t.TempDir(), Commit: first.commit}
	t.Cleanup(func() { // setups make folders read-only, and their snapshots still exist when a test ends
		_ = filepath.WalkDir(p.Root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				_ = os.Chmod(path, 0o700)
			}
			return nil
		})
	})
	if err := os.CopyFS(p.Root, first.files); err != nil {
		t.Fatal(err)
	}
	return p
}

var first struct {
	sync.Once
	files  fstest.MapFS
	commit string
}

// newProject makes a repository and returns its files and its commit.
func newProject(t testing.TB) (fstest.MapFS, string) {
	t.Helper()
	p := &Project{Root: t.TempDir()}
	for name, content := range tracked {
		p.Write(t, name, content)
	}
	if err := os.Chmod(filepath.Join(p.Root, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.Git(t, "init", "--quiet", "--initial-branch=main")
	p.Git(t, "add", "--all")
	p.Git(t, "commit", "--quiet", "--message=first")
	p.Commit = p.Git(t, "rev-parse", "HEAD")
	for name, content := range ignored {
		p.Write(t, name, content)
	}
	return ReadFiles(t, p.Root), p.Commit
}

// ReadFiles returns the files below a folder, to be copied by os.CopyFS when the folder is gone.
func ReadFiles(t testing.TB, dir string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		file := &fstest.MapFile{Mode: info.Mode()}
		if !entry.IsDir() {
			file.Data, err = os.ReadFile(path)
		}
		files[filepath.ToSlash(strings.TrimPrefix(path, dir+"/"))] = file
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Write puts a file into the checkout.
func (p *Project) Write(t testing.TB, name, content string) {
	t.Helper()
	path := filepath.Join(p.Root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Git runs git in the checkout and returns its output without the last newline.
func (p *Project) Git(t testing.TB, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "git", args...)
	c.Dir = p.Root
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_TEMPLATE_DIR=", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false", // no sample hooks, and no second program after each commit
		"GIT_AUTHOR_NAME=A Person", "GIT_AUTHOR_EMAIL=person@example.org",
		"GIT_COMMITTER_NAME=A Person", "GIT_COMMITTER_EMAIL=person@example.org",
	}
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSuffix(stdout.String(), "\n")
}

// Spec returns a specification for an environment at the project's commit.
func (p *Project) Spec(id string) environment.Spec {
	return environment.Spec{
		ID: id, Dir: ".worktrees/issue-42-" + id, Commit: p.Commit, Branch: "signalbox/42-" + id,
	}
}
