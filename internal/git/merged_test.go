package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const mainRef = "refs/heads/main"

// merged is a checkout of main at commit old, whose branch another process then moved to id.
type merged struct {
	project
	old, id string
}

// The two sides of the change: each file as before and as after; "" is no file.
var sides = []struct{ path, old, id string }{
	{".gitattributes", "x.shout filter=shout\n", "*.shout filter=shout\n"},
	{"-n", "dash\n", "dash two\n"},
	{"added/deep/file", "", "new\n"},
	{"file-to-folder", "file\n", ""},
	{"file-to-folder/inside", "", "inside\n"},
	{"folder-to-file", "", "file\n"},
	{"folder-to-file/a/b", "b\n", ""},
	{"gone/only", "gone\n", ""},
	{"new\nline\x1b[1m", "one\n", "two\n"},
	{"x.shout", "quiet\n", "still quiet\n"},
	{"y.shout", "", "quiet too\n"},
}

func newMerged(t *testing.T) merged {
	t.Helper()
	p := newProject(t)
	p.write("untouched", "mine\n")
	m := merged{project: p}
	for _, f := range sides {
		if f.old != "" {
			m.put(f.path, f.old)
		}
	}
	m.old = p.commit("old")
	for _, f := range sides {
		m.take(f.path)
	}
	for _, f := range sides {
		if f.id != "" {
			m.put(f.path, f.id)
		}
	}
	if err := os.Symlink("untouched", filepath.Join(p.dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "run.sh"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	m.id = p.commit("new")
	p.git("reset", "-q", "--hard", m.old)
	p.git("update-ref", mainRef, m.id, m.old)
	return m
}

// put writes a file as the checkout has it: shouting where the filter says so.
func (m merged) put(path, content string) {
	m.t.Helper()
	if strings.HasSuffix(path, ".shout") {
		content = strings.ToUpper(content)
	}
	m.write(path, content)
}

// take removes a file and the folders that it leaves empty.
func (m merged) take(path string) {
	for path != "." && os.Remove(filepath.Join(m.dir, path)) == nil {
		path = filepath.Dir(path)
	}
}

func (m merged) copy() merged {
	m.t.Helper()
	dir := filepath.Join(m.t.TempDir(), "copy")
	if out, err := exec.CommandContext(m.t.Context(), "cp", "-a", m.dir, dir).CombinedOutput(); err != nil {
		m.t.Fatalf("%v: %s", err, out)
	}
	m.dir = dir
	return m
}

func (m merged) status() string { return m.git("status", "--porcelain", "--untracked-files=all") }

// assertNew fails unless the checkout is that of the new commit, as plain git sees it.
func (m merged) assertNew(t *testing.T) {
	t.Helper()
	if status := m.status(); status != "" {
		t.Errorf("status:\n%s", status)
	}
	for _, f := range sides {
		info, err := os.Lstat(filepath.Join(m.dir, f.path))
		switch {
		case f.id == "" && err == nil && !info.IsDir():
			t.Errorf("%q is still there", f.path)
		case f.id == "":
		case strings.HasSuffix(f.path, ".shout"):
			if got := m.read(f.path); got != strings.ToUpper(f.id) {
				t.Errorf("%q holds %q: the user's filter did not write it", f.path, got)
			}
		case m.read(f.path) != f.id:
			t.Errorf("%q holds %q", f.path, m.read(f.path))
		}
	}
	if target, err := os.Readlink(filepath.Join(m.dir, "link")); target != "untouched" {
		t.Errorf("link: %q, %v", target, err)
	}
	if info, err := os.Stat(filepath.Join(m.dir, "run.sh")); err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("run.sh is not executable: %v", err)
	}
	for _, left := range []string{".signalbox-checkout", ".git/signalbox-checkout.index", ".git/index.lock", "gone"} {
		if _, err := os.Lstat(filepath.Join(m.dir, left)); err == nil {
			t.Errorf("%s was left behind", left)
		}
	}
}

// snapshot is every file of the checkout with its content, and the index.
func (m merged) snapshot() []string {
	m.t.Helper()
	all := []string{m.git("ls-files", "--stage")}
	err := filepath.WalkDir(m.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Name() == ".git" {
			return filepath.SkipDir
		}
		if entry.Type().IsRegular() {
			content, err := os.ReadFile(path)
			all = append(all, path+": "+string(content))
			return err
		}
		all = append(all, path)
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return all
}

func (m merged) isFolder(path string) bool {
	info, err := os.Lstat(filepath.Join(m.dir, path))
	return err == nil && info.IsDir()
}
