package git_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/git"
)

// changed is a repository with two commits that differ in every way a file can.
func changed(t *testing.T) (p project, from, to string) {
	p = newProject(t)
	p.write("edited", "one\ntwo\n")
	p.write("deleted", "gone\n")
	p.write("script", "#!/bin/sh\n")
	p.write("moved-from", strings.Repeat("the same\n", 20))
	from = p.commit("before")
	p.write("edited", "one\n2\nthree\n")
	p.write("-n", "dash\n")
	p.write("new\nline\x1b", "odd\n")
	p.write("binary", "\x00\x01\x02")
	p.write("shy.hidden", "text\n")
	// The content would hide, and so would what the user chose for looking at it.
	p.write(".gitattributes", "* -diff\n")
	p.write(".git/info/attributes", "edited diff=rot\n")
	p.git("config", "diff.rot.command", "false")
	p.git("config", "diff.rot.textconv", "rev")
	p.write(".git/hide", "*.hidden -diff\n")
	p.git("config", "core.attributesFile", filepath.Join(p.dir, ".git", "hide"))
	for _, err := range []error{
		os.Remove(filepath.Join(p.dir, "deleted")),
		os.Chmod(filepath.Join(p.dir, "script"), 0o755),
		os.Rename(filepath.Join(p.dir, "moved-from"), filepath.Join(p.dir, "moved-to")),
		os.Symlink("/etc/passwd", filepath.Join(p.dir, "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return p, from, p.commit("after")
}

func TestChanges(t *testing.T) {
	t.Parallel()
	p, from, to := changed(t)
	got := must(p.open().Changes(t.Context(), from, to))(t)
	for i := range got {
		got[i].OldID, got[i].NewID = "", ""
	}
	const none, file, script = git.Absent, git.Regular, git.Executable
	want := []git.Change{
		{Path: "-n", OldMode: none, NewMode: file, Added: 1, Size: 5},
		{Path: ".gitattributes", OldMode: none, NewMode: file, Added: 1, Size: 8},
		{Path: "binary", OldMode: none, NewMode: file, Added: -1, Deleted: -1, Size: 3},
		{Path: "deleted", OldMode: file, NewMode: none, Deleted: 1},
		{Path: "edited", OldMode: file, NewMode: file, Added: 2, Deleted: 1, Size: 12},
		{Path: "link", OldMode: none, NewMode: git.Symlink, Added: 1, Size: 11},
		{Path: "moved-from", OldMode: file, NewMode: none, Deleted: 20},
		{Path: "moved-to", OldMode: none, NewMode: file, Added: 20, Size: 180},
		{Path: "new\nline\x1b", OldMode: none, NewMode: file, Added: 1, Size: 4},
		{Path: "script", OldMode: file, NewMode: script, Size: 10},
		{Path: "shy.hidden", OldMode: none, NewMode: file, Added: 1, Size: 5},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if none := must(p.open().Changes(t.Context(), to, to))(t); none != nil {
		t.Errorf("of nothing: %v", none)
	}
}

func TestChangesComparesWhatIsMergedNotWhatIsShownInItsPlace(t *testing.T) {
	t.Parallel()
	p, from, to := changed(t)
	p.git("replace", to, from)
	if got := must(p.open().Changes(t.Context(), from, to))(t); len(got) == 0 {
		t.Error("a replacement hid the change")
	}
}

func TestChangesShowsASubmodule(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	from := p.commit("before")
	p.git("update-index", "--add", "--cacheinfo", "160000,"+from+",module")
	p.git("commit", "-q", "-m", "after")
	got := must(p.open().Changes(t.Context(), from, p.git("rev-parse", "HEAD")))(t)
	if len(got) != 1 || got[0].NewMode != git.Gitlink || got[0].NewID != from || got[0].Size != 0 {
		t.Errorf("got %v", got)
	}
}

func TestPatchAppliesToTheSameTree(t *testing.T) {
	t.Parallel()
	p, from, to := changed(t)
	p.git("config", "diff.noprefix", "true")
	p.git("config", "diff.external", "false")
	var patch bytes.Buffer
	if err := p.open().Patch(t.Context(), from, to, &patch); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(patch.String(), "diff --git a/edited b/edited\n") || !strings.Contains(patch.String(), "+text\n") {
		t.Errorf("patch:\n%s", patch.String())
	}
	p.git("checkout", "-q", "--detach", from)
	apply := exec.CommandContext(t.Context(), "git", "apply", "--index")
	apply.Dir, apply.Stdin = p.dir, &patch
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, want := p.git("write-tree"), p.git("rev-parse", to+"^{tree}"); got != want {
		t.Errorf("tree %s, want %s", got, want)
	}
}

type full struct{}

var errFull = errors.New("no space")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestPatchTellsThatItCouldNotBeWritten(t *testing.T) {
	t.Parallel()
	p, from, to := changed(t)
	if err := p.open().Patch(t.Context(), from, to, full{}); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}
