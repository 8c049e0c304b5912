package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/git"
)

var one = strings.Repeat("1", 40)

// withModules is a commit with a .gitmodules and gitlinks at some paths.
func withModules(t *testing.T, text string, paths ...string) (project, string) {
	t.Helper()
	p := newProject(t)
	p.write(".gitmodules", text)
	p.commit("files")
	for _, path := range paths {
		p.git("update-index", "--add", "--cacheinfo", "160000,"+one+","+path)
	}
	p.git("commit", "-q", "--allow-empty", "-m", "modules")
	return p, p.git("rev-parse", "HEAD")
}

func TestSubmodulesAreEntriesOfGitmodulesThatHaveAFolder(t *testing.T) {
	t.Parallel()
	p, commit := withModules(t, `[submodule "the lib"]
	path = deps/a b
	url = https://example.org/old.git
	url = ../lib.git
[submodule "gone"]
	path = gone
	url = https://example.org/gone.git
[submodule "file"]
	path = .gitmodules
	url = https://example.org/file.git
[core]
	sshCommand = touch /tmp/ran
[include]
	path = /etc/passwd
`, "deps/a b", "stray")
	want := []git.Submodule{{Name: "the lib", Path: "deps/a b", URL: "../lib.git", Commit: one}}
	for name, id := range map[string]string{"commit": commit, "tree": p.git("rev-parse", "HEAD^{tree}")} {
		if got := must(p.open().Submodules(t.Context(), id))(t); !slices.Equal(got, want) {
			t.Errorf("by its %s: got %+v, want %+v", name, got, want)
		}
	}
	elsewhere := newProject(t)
	elsewhere.write("a", "a")
	elsewhere.commit("another repository")
	if got := must(elsewhere.open().Submodules(t.Context(), commit, filepath.Join(p.dir, ".git", "objects")))(t); !slices.Equal(got, want) {
		t.Errorf("from objects elsewhere: got %+v", got)
	}
	if got := must(elsewhere.open().Submodules(t.Context(), elsewhere.git("rev-parse", "HEAD")))(t); got != nil {
		t.Errorf("a repository without submodules: %+v", got)
	}
}

func TestSubmodulesThatLeadElsewhereAreRefused(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{
		"name above":           "[submodule \"../../x\"]\npath = lib\nurl = u",
		"name above, inside":   "[submodule \"a/../../x\"]\npath = lib\nurl = u",
		"name above, by \\":    "[submodule \"a\\\\..\\\\x\"]\npath = lib\nurl = u",
		"name absolute":        "[submodule \"/etc\"]\npath = lib\nurl = u",
		"name an option":       "[submodule \"-x\"]\npath = lib\nurl = u",
		"name empty":           "[submodule \"\"]\npath = lib\nurl = u",
		"name in a git folder": "[submodule \"a/.GIT/x\"]\npath = lib\nurl = u",
		"name of another .git": "[submodule \"git~1\"]\npath = lib\nurl = u",
		"path above":           "[submodule \"lib\"]\npath = ../lib\nurl = u",
		"path absolute":        "[submodule \"lib\"]\npath = /etc\nurl = u",
		"path an option":       "[submodule \"lib\"]\npath = --upload-pack=x\nurl = u",
		"path in .git":         "[submodule \"lib\"]\npath = .git/hooks\nurl = u",
		"path with a newline":  "[submodule \"lib\"]\npath = \"a\\nb\"\nurl = u",
		"path with an escape":  "[submodule \"lib\"]\npath = \"a\x1b[2Jb\"\nurl = u",
		"too many":             "[submodule \"lib\"]\npath = lib\n" + manyModules(600),
		"too large":            "# " + strings.Repeat("x", 1<<20) + "\n[submodule \"lib\"]\npath = lib\nurl = u",
	} {
		p, commit := withModules(t, text, "lib")
		if got, err := p.open().Submodules(t.Context(), commit); !errors.Is(err, git.ErrInvalid) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
}

func manyModules(n int) string {
	var text strings.Builder
	for i := range n {
		name := "m" + strings.Repeat("x", i)
		text.WriteString("[submodule \"" + name + "\"]\npath = " + name + "\n")
	}
	return text.String()
}

func TestAddressesOfSubmodulesBeginAtTheOrigin(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ parent, address, want string }{
		{"https://example.org/ada/app.git", "../lib.git", "https://example.org/ada/lib.git"},
		{"https://example.org/ada/app.git/", "../../lib/", "https://example.org/lib"},
		{"https://example.org/ada/app", "./lib", "https://example.org/ada/app/lib"},
		{"git@example.org:ada/app.git", "../lib.git", "git@example.org:ada/lib.git"},
		{"/srv/app.git", "../lib.git", "/srv/lib.git"},
		{"https://example.org/app.git", "https://other.example/lib.git", "https://other.example/lib.git"},
		{"https://example.org/app.git", "ext::sh -c x", "ext::sh -c x"},
		{"https://example.org/app.git", "../../other.example/lib.git", ""},
		{"https://example.org/app.git", "../../../../x", ""},
		{"", "../lib.git", ""},
	} {
		got, err := git.SubmoduleURL(test.parent, test.address)
		if got != test.want || (test.want == "") != errors.Is(err, git.ErrInvalid) {
			t.Errorf("%s from %s: %q, %v", test.address, test.parent, got, err)
		}
	}
	p := newProject(t)
	p.git("remote", "add", "upstream", "https://ada:secret@example.org/app.git")
	if got := must(p.open().OriginURL(t.Context()))(t); got != "https://example.org/app.git" {
		t.Errorf("the only remote: %q", got)
	}
}

// The folder below .git/modules may have come with the project, and its configuration with it.
func TestTreesAreCopiedFromAFolderWhoseConfigurationNamesPrograms(t *testing.T) {
	t.Parallel()
	lib, p, store := newProject(t), newProject(t), newProject(t)
	lib.write("dir/a", "a\n")
	lib.commit("first")
	lib.write("dir/a", "b\n")
	lib.commit("second")
	commit, tree := lib.git("rev-parse", "HEAD"), lib.git("rev-parse", "HEAD^{tree}")
	kept := filepath.Join(p.dir, ".git", "modules", "x")
	if err := errors.Join(os.MkdirAll(filepath.Dir(kept), 0o755), os.Rename(filepath.Join(lib.dir, ".git"), kept)); err != nil {
		t.Fatal(err)
	}
	ran := filepath.Join(t.TempDir(), "ran")
	evil := "[core]\n\tfsmonitor = touch " + ran + "\n\talternateRefsCommand = touch " + ran + "\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = o\n" +
		"[remote \"o\"]\n\turl = ext::touch% " + ran + "\n\tpromisor = true\n[uploadpack]\n\tpackObjectsHook = touch " + ran + "\n[protocol]\n\tallow = always\n"
	if err := os.WriteFile(filepath.Join(kept, "config"), []byte(evil), 0o600); err != nil {
		t.Fatal(err)
	}
	repo, module := p.open(), git.Submodule{Name: "x", Path: "lib"}
	objects := repo.SubmoduleObjects(module)
	if want := []string{filepath.Join(kept, "objects")}; !slices.Equal(objects, want) {
		t.Fatalf("objects are in %q, want %q", objects, want)
	}
	if err := os.Symlink(lib.dir, filepath.Join(p.dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(lib.dir, ".git", "objects"), 0o755); err != nil {
		t.Fatal(err)
	}
	if led := repo.SubmoduleObjects(git.Submodule{Name: "elsewhere", Path: "elsewhere"}); led != nil {
		t.Errorf("a link led to %q", led)
	}
	clone := filepath.Join(".worktrees", "issue-9-x")
	if err := os.MkdirAll(filepath.Join(p.dir, clone, ".git", "objects"), 0o755); err != nil {
		t.Fatal(err)
	}
	if led := repo.SubmoduleObjects(git.Submodule{Name: "agents", Path: clone}); led != nil {
		t.Errorf("a path led into an agent's clone: %q", led)
	}
	into := filepath.Join(store.dir, ".git")
	for range 2 {
		if got := must(repo.TreeIn(t.Context(), objects[0], commit))(t); got != tree {
			t.Fatalf("tree %s, want %s", got, tree)
		}
		if err := repo.CopyTree(t.Context(), objects[0], tree, into); err != nil {
			t.Fatal(err)
		}
	}
	if got := store.git("cat-file", "blob", tree+":dir/a"); got != "b" {
		t.Errorf("copied %q", got)
	}
	if _, err := repo.TreeIn(t.Context(), objects[0], one); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("a commit that is not there: %v", err)
	}
	// A file is missing there, as in a partial clone: nothing is fetched, and nothing counts as copied.
	blob := store.git("rev-parse", tree+":dir/a")
	if err := os.Remove(filepath.Join(objects[0], blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	if err := repo.CopyTree(t.Context(), objects[0], tree, filepath.Join(newProject(t).dir, ".git")); err == nil {
		t.Error("a tree was copied of which a file is missing")
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a program was run that the submodule's configuration names")
	}
}
