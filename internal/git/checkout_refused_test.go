package git_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/git"
)

func TestSyncCheckoutRefusesFilesInItsOwnPlace(t *testing.T) {
	t.Parallel()
	for _, path := range []string{".signalbox-checkout", ".signalbox-checkout/files/x"} {
		p := newProject(t)
		old := p.commit("old")
		p.write(path, "mine\n")
		id := p.commit("new")
		p.git("reset", "-q", "--hard", old)
		p.git("update-ref", mainRef, id)
		if err := p.open().SyncCheckout(t.Context(), mainRef, old, id); !errors.Is(err, git.ErrCheckout) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestSyncCheckoutRefusesWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		make func(m merged)
		path string
	}{
		"an edited file":                {func(m merged) { m.write("-n", "edited\n") }, "-n"},
		"an edited file that is to go":  {func(m merged) { m.write("gone/only", "edited\n") }, "gone/only"},
		"a deleted file":                {func(m merged) { m.take("-n") }, "-n"},
		"an untracked file":             {func(m merged) { m.write("added/deep/file", "mine\n") }, "added/deep/file"},
		"a file in place of a folder":   {func(m merged) { m.write("added", "mine\n") }, "added/deep/file"},
		"a folder in place of a file":   {func(m merged) { m.take("-n"); m.write("-n/mine", "mine\n") }, "-n"},
		"a new file in a folder to go":  {func(m merged) { m.write("folder-to-file/a/mine", "mine\n") }, "folder-to-file"},
		"an ignored file":               {func(m merged) { m.write(".git/info/exclude", "added\n"); m.write("added/deep/file", "mine\n") }, "added/deep/file"},
		"an edited file with odd name":  {func(m merged) { m.write("new\nline\x1b[1m", "edited\n") }, "new\nline\x1b[1m"},
		"a staged edit, undone in file": {func(m merged) { m.write("-n", "staged\n"); m.git("add", "--", "-n"); m.write("-n", "dash\n") }, "-n"},
		"a staged deletion":             {func(m merged) { m.git("rm", "-q", "--cached", "--", "-n") }, "-n"},
		"a changed mode": {func(m merged) {
			if err := os.Chmod(filepath.Join(m.dir, "-n"), 0o755); err != nil {
				m.t.Fatal(err)
			}
		}, "-n"},
		"a link in place of a folder": {func(m merged) {
			m.take("gone/only")
			m.write("elsewhere/only", "gone\n")
			if err := os.Symlink("elsewhere", filepath.Join(m.dir, "gone")); err != nil {
				m.t.Fatal(err)
			}
		}, "gone/only"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMerged(t)
			test.make(m)
			before := m.snapshot()
			repo := m.open()
			for _, do := range []func(context.Context, string, string, string) error{repo.CheckCheckout, repo.SyncCheckout} {
				err := do(t.Context(), mainRef, m.old, m.id)
				var refused *git.CheckoutError
				if !errors.Is(err, git.ErrCheckout) || !errors.As(err, &refused) || !slices.Equal(refused.Paths, []string{test.path}) {
					t.Errorf("got %v", err)
				}
				if strings.ContainsAny(fmt.Sprint(err), "\n\x1b") {
					t.Errorf("the error is not clean: %q", err)
				}
			}
			if after := m.snapshot(); !slices.Equal(before, after) {
				t.Errorf("before\n%q\nafter\n%q", before, after)
			}
		})
	}
}

func TestSyncCheckoutLeavesOtherBranchesAlone(t *testing.T) {
	t.Parallel()
	m := newMerged(t)
	m.git("checkout", "-q", "-f", "-b", "other", m.old)
	m.write("-n", "edited\n")
	before := m.snapshot()
	if err := m.open().SyncCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
		t.Fatal(err)
	}
	if after := m.snapshot(); !slices.Equal(before, after) {
		t.Errorf("before\n%q\nafter\n%q", before, after)
	}
}

func TestSyncCheckoutFindsLinkedWorkTrees(t *testing.T) {
	t.Parallel()
	m := newMerged(t)
	m.git("checkout", "-q", "-f", "-b", "other", m.old)
	linked := merged{project: project{t: t, dir: filepath.Join(t.TempDir(), "linked")}, old: m.old, id: m.id}
	m.git("update-ref", mainRef, m.old)
	m.git("worktree", "add", "-q", linked.dir, "main")
	gone := filepath.Join(t.TempDir(), "gone")
	m.git("worktree", "add", "-q", "--force", gone, "main")
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	m.git("update-ref", mainRef, m.id)
	if err := m.open().SyncCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
		t.Fatal(err)
	}
	if status := linked.status(); status != "" {
		t.Errorf("status:\n%s", status)
	}
}

func TestSyncCheckoutLeavesSubmodulesAlone(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	first := p.commit("first")
	p.git("update-index", "--add", "--cacheinfo", "160000,"+first+",module")
	p.git("commit", "-q", "-m", "add module")
	old := p.git("rev-parse", "HEAD")
	p.git("update-index", "--cacheinfo", "160000,"+old+",module", "--add", "--cacheinfo", "160000,"+old+",second")
	p.git("commit", "-q", "-m", "move module")
	id := p.git("rev-parse", "HEAD")
	p.git("reset", "-q", "--hard", old)
	p.write("module/inside", "kept\n")
	p.git("update-ref", mainRef, id)
	for range 2 {
		if err := p.open().SyncCheckout(t.Context(), mainRef, old, id); err != nil {
			t.Fatal(err)
		}
	}
	if index := p.git("ls-files", "--stage"); index != "160000 "+old+" 0\tmodule\n160000 "+old+" 0\tsecond" {
		t.Errorf("index:\n%s", index)
	}
	p.git("update-ref", mainRef, first)
	for range 2 {
		if err := p.open().SyncCheckout(t.Context(), mainRef, id, first); err != nil {
			t.Fatal(err)
		}
	}
	if index := p.git("ls-files", "--stage"); index != "" {
		t.Errorf("index:\n%s", index)
	}
	if p.read("module/inside") != "kept\n" {
		t.Error("the submodule was touched")
	}
}

// To git such a filter is "the remote end", which hung up.
func TestALongRunningFilterThatDoesNotStartIsNoNetwork(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write(".gitattributes", "*.bin filter=lfs\n")
	p.write("a.bin", "a\n")
	p.commit("first")
	p.git("config", "filter.lfs.process", "no-such-filter process")
	p.git("config", "filter.lfs.clean", "cat")
	p.git("config", "filter.lfs.smudge", "cat")
	p.git("config", "filter.lfs.required", "true")
	if err := p.open().CheckFilters(t.Context()); !errors.Is(err, git.ErrFilter) {
		t.Errorf("got %v", err)
	}
}
