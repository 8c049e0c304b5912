package git_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/git"
)

const oddName = "a\nb\x1b[31m $(id)/-rf"

// odd is a repository with a link, a submodule's entry, and names that no one should type.
func odd(t *testing.T) (p project, commit string) {
	p = newProject(t)
	p.write("top", "one\n")
	p.write("run.sh", "#!/bin/sh\n")
	p.write(oddName, "odd\n")
	p.write("dir/*", "star\n")
	p.write("dir/b", "b\n")
	for _, err := range []error{
		os.Chmod(filepath.Join(p.dir, "run.sh"), 0o755), os.Symlink("/etc/passwd", filepath.Join(p.dir, "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	p.commit("files")
	p.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",module")
	p.git("commit", "-q", "-m", "module")
	return p, p.git("rev-parse", "HEAD")
}

func TestTreeFilesAreTheRegularFilesOfACommit(t *testing.T) {
	t.Parallel()
	p, commit := odd(t)
	var got []string
	for _, f := range must(p.open().TreeFiles(t.Context(), commit))(t) {
		got = append(got, f.Path)
		if f.Path == "top" && (f.Size != 4 || !git.ValidID(f.ID)) {
			t.Errorf("got %+v", f)
		}
	}
	slices.Sort(got)
	if want := []string{oddName, "dir/*", "dir/b", "run.sh", "top"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	empty := must(p.open().CommitTree(t.Context(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904", nil, "empty", robot, noon))(t)
	if files := must(p.open().TreeFiles(t.Context(), empty))(t); len(files) != 0 {
		t.Errorf("an empty tree has %v", files)
	}
	if _, err := p.open().TreeFiles(t.Context(), "HEAD"); !errors.Is(err, git.ErrInvalid) {
		t.Errorf("a name for a commit: %v", err)
	}
}

func TestFilesOfACommitAreReadByTheirLiteralName(t *testing.T) {
	t.Parallel()
	p, commit := odd(t)
	repo := p.open()
	readers := map[string]func(name string, limit int64) ([]byte, error){
		"blob": func(name string, limit int64) ([]byte, error) { return repo.ReadBlob(t.Context(), commit, name, limit) },
		"content": func(name string, limit int64) ([]byte, error) {
			return repo.Content(commit).Read(t.Context(), name, limit)
		},
	}
	for by, read := range readers {
		for name, want := range map[string]string{"top": "one\n", oddName: "odd\n", "dir/*": "star\n"} {
			if got, err := read(name, 100); err != nil || string(got) != want {
				t.Errorf("%s %q: %q, %v", by, name, got, err)
			}
		}
		if got, err := read("top", 2); err != nil || string(got) != "on" {
			t.Errorf("%s, two bytes: %q, %v", by, got, err)
		}
		for _, name := range []string{"", "link", "module", "dir", "dir/", "nothing", "./top", "../top", "/top", "--help", ":top", "t*"} {
			if got, err := read(name, 100); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s %q: %q, %v", by, name, got, err)
			}
		}
	}
}

func TestWorkFilesAreTrackedOrUntrackedButNotIgnored(t *testing.T) {
	t.Parallel()
	p, _ := odd(t)
	p.write(".gitignore", "ignored\n")
	p.write("ignored", "")
	p.write("new\nname", "")
	got := must(p.open().WorkFiles(t.Context()))(t)
	for name, want := range map[string]bool{"top": true, "new\nname": true, oddName: true, "ignored": false, ".git/config": false} {
		if slices.Contains(got, name) != want {
			t.Errorf("%q listed: %t, want %t", name, !want, want)
		}
	}
}

func TestLinksLeadToPathsOfTheSameCommit(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("tools/impl", "#!/bin/sh\n")
	for link, to := range map[string]string{"check": "tools/impl", "ci": "./tools/", "a/b": "../check", "etc": "/etc", "out": "../x", "a/whole": "/workspace/tools/impl", "round": "../workspace/tools"} {
		at := filepath.Join(p.dir, filepath.FromSlash(link))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(to, at)); err != nil {
			t.Fatal(err)
		}
	}
	p.commit("links")
	links := must(p.open().Links(t.Context(), p.git("rev-parse", "HEAD"), "/workspace"))(t)
	if want := map[string]string{"check": "tools/impl", "ci": "tools", "a/b": "check", "a/whole": "tools/impl", "round": "tools"}; !maps.Equal(links, want) {
		t.Errorf("got %v, want %v", links, want)
	}
}
