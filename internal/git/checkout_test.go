package git_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"signalbox/internal/git"
	"signalbox/internal/process"
)

const mainRef = "refs/heads/main"

// merged is a checkout of main at commit old, whose branch somebody else then moved to id.
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

func TestSyncCheckoutBringsFilesAndIndex(t *testing.T) {
	t.Parallel()
	m := newMerged(t)
	repo := m.open()
	if err := repo.CheckCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
		t.Fatal(err)
	}
	if m.status() == "" {
		t.Fatal("the check changed the checkout")
	}
	for range 2 {
		if err := repo.SyncCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
			t.Fatal(err)
		}
		m.assertNew(t)
	}
}

func TestSyncCheckoutWorksBeforeTheBranchMoves(t *testing.T) {
	t.Parallel()
	m := newMerged(t)
	m.git("update-ref", mainRef, m.old)
	if err := m.open().SyncCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
		t.Fatal(err)
	}
	m.git("update-ref", mainRef, m.id)
	m.assertNew(t)
}

func TestSyncCheckoutReplacesEmptyFolders(t *testing.T) {
	t.Parallel()
	m := newMerged(t)
	if err := os.MkdirAll(filepath.Join(m.dir, "folder-to-file", "empty", "too"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := m.open().SyncCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
		t.Fatal(err)
	}
	m.assertNew(t)
}

func TestSyncCheckoutRemovesWhatAKilledOneLeft(t *testing.T) {
	t.Parallel()
	m := newMerged(t)
	m.git("reset", "-q", "--hard", m.id)
	m.write(".signalbox-checkout/files/x", "left\n")
	m.write(".signalbox-checkout/.gitignore", "*\n")
	if err := m.open().SyncCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
		t.Fatal(err)
	}
	m.assertNew(t)
}

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

func TestSyncCheckoutKeepsUnrelatedWork(t *testing.T) {
	t.Parallel()
	m := newMerged(t)
	m.write("untouched", "edited\n")
	m.write("staged", "staged\n")
	m.git("add", "staged")
	m.write("untracked", "untracked\n")
	if err := m.open().SyncCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
		t.Fatal(err)
	}
	if got := m.git("status", "--porcelain"); got != "A  staged\n M untouched\n?? untracked" {
		t.Errorf("status:\n%s", got)
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

// Whatever part of the files is new already, the rest follows.
func TestSyncCheckoutCompletesPartialWork(t *testing.T) {
	t.Parallel()
	for done := range len(sides) + 1 {
		t.Run(fmt.Sprintf("after %d files", done), func(t *testing.T) {
			t.Parallel()
			m := newMerged(t)
			for _, f := range sides[:done] {
				m.take(f.path)
			}
			for _, f := range sides[:done] {
				// A folder that is not empty yet is what a file has to wait for.
				if f.id != "" && !m.isFolder(f.path) {
					m.put(f.path, f.id)
				}
			}
			if err := m.open().SyncCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
				t.Fatal(err)
			}
			m.assertNew(t)
		})
	}
}

func (m merged) isFolder(path string) bool {
	info, err := os.Lstat(filepath.Join(m.dir, path))
	return err == nil && info.IsDir()
}

// mortal kills its own process in place of, or right after, the nth program it would run.
type mortal struct {
	left  *int
	after bool
}

func (m mortal) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	*m.left--
	if *m.left == 0 && !m.after {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	result, err := process.Host{}.Exec(ctx, c)
	if *m.left == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return result, err
}

// syncAndDie is the test program running as the one that is killed.
func syncAndDie() {
	var dir, old, id, when string
	left, n := 0, 0
	if _, err := fmt.Sscanf(os.Getenv("SIGNALBOX_TEST_SYNC"), "%s %s %s %d %s", &dir, &old, &id, &n, &when); err != nil {
		panic(err)
	}
	repo, err := git.Open(context.Background(), mortal{&left, when == "after"}, dir)
	if err == nil {
		left = n
		err = repo.SyncCheckout(context.Background(), mainRef, old, id)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(0)
}

func TestSyncCheckoutSurvivesKillAtEveryProgram(t *testing.T) {
	t.Parallel()
	template := newMerged(t)
	for _, when := range []string{"before", "after"} {
		kills := 0
		for n := 1; ; n++ {
			m := template.copy()
			out, err := m.syncInChild(n, when)
			if err := m.open().SyncCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
				t.Fatalf("killed %s program %d: %v", when, n, err)
			}
			m.assertNew(t)
			if err == nil {
				break
			}
			if !strings.Contains(err.Error(), "signal: killed") {
				t.Fatalf("%v: %s", err, out)
			}
			kills++
		}
		if kills < 10 {
			t.Errorf("only %d programs were run", kills)
		}
		t.Logf("killed %s each of %d programs", when, kills)
	}
}
