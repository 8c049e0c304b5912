package environmenttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var restoreTests = []conformance{
	{"folders that the setup made and the project does not ignore are the environment's", testAdopted},
	{"a folder that ignores itself is kept", testOwnIgnore},
	{"a later commit's files lie over an earlier commit's snapshot", testKeptElsewhere},
	{"setup commands leave nothing that git obeys", testSetupOfGit},
	{"a restored environment has its commit and nothing else", testRestoreCold},
	{"a restored environment has the snapshot's files, at the same place", testKept},
	{"a snapshot, taken twice, under no key or refused because of its key, leaves the environment as it was", testSnapshotTwice},
	{"nothing done after a snapshot comes back", testNothingComesBack},
	{"two environments on one snapshot do not see each other", testTwoOnOne},
	{"an evicted snapshot is not restored, and its environments stay", testEvict},
	{"an environment on a snapshot is attached to, recorded, reset and removed like any", testKeptWork},
}

const key = "0123456789abcdef"

// setup makes the same kinds of files as real setups: an ignored folder with absolute paths in its files, an ignored file deep
// in the tree, and a file in HOME.
const setup = `mkdir -p build/deep src/build && printf '#!/bin/sh\necho "ran $0"\n' >build/deep/run && chmod +x build/deep/run &&
	echo "$PWD/build/deep/run" >build/where && echo x >src/build/out && ln -s where build/link &&
	echo '*' >build/.gitignore && mkdir -p "$HOME/.cache/tool" && echo "$HOME" >"$HOME/.cache/tool/where" && chmod 555 "$HOME/.cache/tool"`

// verify prints the files of setup, and fails if they don't fit their place any more.
const verify = `$(cat build/link) && cat src/build/out && test "$(cat "$HOME/.cache/tool/where")" = "$HOME" && test ! -L build/deep`

// kept sets the environment up, takes a snapshot, and returns the output of verify.
func (s *site) kept(t *testing.T) string {
	t.Helper()
	if s.restore(t, s.spec.Commit) {
		t.Error("warm before there was a snapshot")
	}
	s.must(t, setup)
	verified := s.must(t, verify)
	if err := s.Snapshot(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	return verified
}

func (s *site) restore(t *testing.T, commit string) bool {
	t.Helper()
	warm, err := s.Restore(t.Context(), commit, key)
	if err != nil {
		t.Fatal(err)
	}
	return warm
}

// expectKept expects the files of setup if the driver keeps snapshots, otherwise none.
func (s *site) expectKept(t *testing.T, warm bool, verified string) {
	t.Helper()
	equal(t, "warm", warm, s.Keeps)
	if s.Keeps {
		equal(t, "verified", s.must(t, verify), verified)
	} else {
		s.expectNothing(t)
	}
}

func (s *site) expectNothing(t *testing.T) {
	t.Helper()
	equal(t, "ignored files and HOME", s.must(t, `ls -A "$HOME" | grep -v profile; test -e build && echo build; test -e src/build && echo src/build; true`), "")
}

func testRestoreCold(t *testing.T, s *site) {
	s.must(t, setup+` && echo x >x && git add x && git commit --quiet --message=x && echo y >README.md && git config user.name y && mkdir -p .git/hooks && echo exit 1 >.git/hooks/pre-commit`)
	for range 2 {
		equal(t, "warm", s.restore(t, s.spec.Commit), false)
		s.expectClean(t, s.spec.Commit)
		s.expectNothing(t)
		equal(t, "files", s.must(t, "ls -A; cat .env; ls -A .git/hooks 2>/dev/null; true"), ".env\n.git\n.gitignore\n.worktreeinclude\nREADME.md\nlocal\nrun.sh\nsrc\nKEY=value\n")
		s.must(t, setup)
	}
	if _, err := s.Restore(t.Context(), strings.Repeat("1", 40), ""); err == nil {
		t.Error("restored at a missing commit")
	}
	s.must(t, verify)
}

func testKept(t *testing.T, s *site) {
	verified := s.kept(t)
	for range 2 {
		s.expectKept(t, s.restore(t, s.spec.Commit), verified)
		s.expectClean(t, s.spec.Commit)
	}
	if s.Isolated {
		other := s.another(t, "other")
		other.expectClean(t, s.spec.Commit)
		other.expectNothing(t)
		other.expectKept(t, other.restore(t, s.spec.Commit), verified)
		other.expectClean(t, s.spec.Commit)
	}
}

func testSnapshotTwice(t *testing.T, s *site) {
	equal(t, "warm", s.restore(t, s.spec.Commit), false)
	s.must(t, setup)
	verified := s.must(t, verify)
	if err := s.Snapshot(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	equal(t, "warm after a snapshot under no key", s.restore(t, s.spec.Commit), false)
	s.must(t, setup+" && echo x >x && echo x >>README.md && git add x")
	for range 2 {
		if err := s.Snapshot(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		equal(t, "verified", s.must(t, verify), verified)
	}
	s.must(t, `git commit --quiet --allow-empty --message='the agent can commit' && echo x >build/new && echo x >"$HOME/new"`)
	s.Environment = s.make(t, s.spec)
	equal(t, "verified", s.must(t, verify+` && cat build/new "$HOME/new"`), verified+"x\nx\n")
	s.expectKept(t, s.restore(t, s.spec.Commit), verified)
	for _, key := range []string{"..", "a/b", "-rf", "A", "a.b", "a\x00", strings.Repeat("a", 300)} {
		if err := s.Snapshot(t.Context(), key); s.Keeps && err == nil {
			t.Errorf("kept under %q", key)
		}
		if warm, err := s.Restore(t.Context(), s.spec.Commit, key); warm && err == nil {
			t.Errorf("started from %q", key)
		}
	}
}

func testKeptElsewhere(t *testing.T, s *site) {
	verified := s.kept(t)
	s.Project.Write(t, "README.md", "a later project\n")
	s.Project.Write(t, "new/file", "new\n")
	s.Project.Git(t, "add", "README.md", "new")
	s.Project.Git(t, "rm", "--quiet", "src/app.txt")
	s.Project.Git(t, "commit", "--quiet", "--message=later")
	later := s.Project.Git(t, "rev-parse", "HEAD")
	if s.Isolated {
		spec := s.Project.Spec("later")
		spec.Commit = later
		s = &site{Harness: s.Harness, spec: spec}
		s.Environment = s.make(t, spec)
		s.expectClean(t, later)
		equal(t, "files", s.must(t, "cat README.md new/file; ls src"), "a later project\nnew\nbinary\n")
	}
	for range 2 {
		s.expectKept(t, s.restore(t, later), verified)
		s.expectClean(t, later)
		equal(t, "files", s.must(t, "cat README.md new/file; ls src | grep -v build"), "a later project\nnew\nbinary\n")
	}
	s.expectKept(t, s.restore(t, s.Project.Commit), verified)
	s.expectClean(t, s.Project.Commit)
}

// spoil is an agent that writes wherever it can; forbidden commands may fail.
const spoil = `echo spoiled >README.md; echo spoiled >build/deep/run; echo spoiled >build/new; rm -rf src/build build/where; mv build/deep build/moved
	rm -f run.sh; mkdir run.sh; chmod -R u+w "$HOME"; rm -rf "$HOME/.cache"; echo spoiled >"$HOME/.profile"; echo spoiled >"$HOME/.gitconfig"
	mkdir -p .git/hooks; echo 'echo spoiled' >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout; git config core.hooksPath .git/hooks
	echo spoiled >.git/info/exclude; rm -rf .git/objects; echo spoiled >.git/HEAD; echo '* -text' >.git/info/attributes; true`

func testNothingComesBack(t *testing.T, s *site) {
	verified := s.kept(t)
	expect := func(on *site) {
		t.Helper()
		on.expectKept(t, on.restore(t, s.spec.Commit), verified)
		on.expectClean(t, s.spec.Commit)
		equal(t, "spoiled files", on.must(t, `grep -rl spoiled . "$HOME" || true`), "")
		equal(t, "files", on.must(t, `cat README.md && ./run.sh`), "a project\nrun\n")
	}
	for range 2 {
		s.run(t, spoil)
		expect(s)
	}
	if s.Isolated {
		s.run(t, spoil)
		other := s.another(t, "other")
		other.expectNothing(t)
		expect(other)
	}
}

func testSetupOfGit(t *testing.T, s *site) {
	canary := filepath.Join(t.TempDir(), "canary")
	equal(t, "warm", s.restore(t, s.spec.Commit), false)
	s.must(t, setup+` && mkdir -p .git/hooks && printf '#!/bin/sh\ntouch "$1"\n' >.git/hooks/post-checkout && chmod +x .git/hooks/post-checkout &&
		git config core.fsmonitor "touch '$1'" && git config filter.x.clean "touch '$1'" && git config alias.status x && echo '* filter=x' >.git/info/attributes &&
		echo '*' >>.git/info/exclude && git branch mine && git stash list && echo x >>README.md && echo x >new`, canary)
	verified := s.must(t, verify)
	if err := s.Snapshot(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	s.expectKept(t, s.restore(t, s.spec.Commit), verified)
	s.expectClean(t, s.spec.Commit)
	equal(t, "left in .git", s.must(t, `ls .git/hooks 2>/dev/null; git config --local --get-regexp 'fsmonitor|filter|alias'; git branch --list mine; test -e .git/info/attributes && echo attributes; test -e new && echo new; true`), "")
	if _, err := os.Lstat(canary); s.Isolated && !os.IsNotExist(err) {
		t.Errorf("a command of the setup ran on this machine (%v)", err)
	}
}

func testTwoOnOne(t *testing.T, s *site) {
	if !s.Isolated {
		return // paths differ, so they share no snapshot
	}
	verified := s.kept(t)
	other := s.another(t, "other")
	other.expectKept(t, other.restore(t, s.spec.Commit), verified)
	s.expectKept(t, s.restore(t, s.spec.Commit), verified)
	if !s.Keeps {
		return
	}
	write := `echo "$1" >build/mine && echo "$1" >src/build/out && echo "$1" >README.md && rm -r build/deep && mkdir build/deep && chmod u+w "$HOME/.cache/tool" && echo "$1" >"$HOME/.cache/tool/mine"`
	read := `cat build/mine src/build/out README.md "$HOME/.cache/tool/mine"; ls build/deep`
	s.must(t, write, "one")
	other.must(t, write, "two")
	equal(t, "one", s.must(t, read), "one\none\none\none\n")
	equal(t, "two", other.must(t, read), "two\ntwo\ntwo\ntwo\n")
	if err := s.Driver.Remove(t.Context(), s.spec); err != nil {
		t.Fatal(err)
	}
	equal(t, "two", other.must(t, read), "two\ntwo\ntwo\ntwo\n")
}

func testEvict(t *testing.T, s *site) {
	verified := s.kept(t)
	s.expectKept(t, s.restore(t, s.spec.Commit), verified)
	if err := s.Evict(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if s.Keeps {
		equal(t, "verified", s.must(t, verify), verified)
		s.Environment = s.make(t, s.spec)
		equal(t, "verified", s.must(t, verify), verified)
	}
	for range 2 {
		equal(t, "warm", s.restore(t, s.spec.Commit), false)
		s.expectNothing(t)
		if err := s.Evict(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	s.must(t, setup)
	if err := s.Snapshot(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	s.expectKept(t, s.restore(t, s.spec.Commit), verified)
}

func testKeptWork(t *testing.T, s *site) {
	verified := s.kept(t)
	s.expectKept(t, s.restore(t, s.spec.Commit), verified)
	move := "git mv src sources"
	if s.Unmoving {
		move = "! git mv src sources 2>/dev/null && mv src sources && git add --all src sources"
	}
	s.must(t, "echo one >>README.md && "+move+" && rm run.sh && echo new >new && mkdir -p build && echo x >build/x")
	change := s.record(t, s.spec.Commit)
	equal(t, "recorded", s.Project.Git(t, "diff-tree", "-r", "--name-status", "--no-renames", s.spec.Commit, change.Commit),
		"M\tREADME.md\nA\tnew\nD\trun.sh\nA\tsources/app.txt\nA\tsources/binary\nD\tsrc/app.txt\nD\tsrc/binary")
	s.Environment = s.make(t, s.spec)
	s.must(t, "rm -rf .git new && echo x >unwanted")
	if err := s.Reset(t.Context(), change.Commit, "refs/signalbox/kept/42"); err != nil {
		t.Fatal(err)
	}
	s.expectClean(t, change.Commit)
	equal(t, "files", s.must(t, "cat new build/x; test -e unwanted && echo unwanted; true"), "new\nx\n")
	equal(t, "kept", s.Project.Git(t, "show", "refs/signalbox/kept/42:unwanted"), "x")
	for range 2 {
		if err := s.Driver.Remove(t.Context(), s.spec); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(s.folder())); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
