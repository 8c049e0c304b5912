package environmenttest

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/environment"
)

var recordTests = []conformance{
	{"additions, deletions, modes, links and binary files are recorded", testContent},
	{"an untouched folder is no change, and recording twice returns the same commit", testRecordTwice},
	{"a later record sees only later changes: tracked files that are ignored, links, folders and pipes in place of others are recorded as they are", testChanges},
	{"a nested repository is recorded as a link to its commit", testNested},
	{"hostile git metadata takes no part", testHostile},
	{"reading refuses everything but a file of the folder, and a link out of it is recorded as a link", testRead},
}

func testContent(t *testing.T, s *site) {
	s.must(t, `rm src/app.txt && printf '\000\377\r\n' >new.bin && chmod -x run.sh && ln -s ../README.md src/link &&
		mkdir -p 'odd dir' && echo n >"odd dir/$1" && echo e >-n && mkdir build && echo out >build/out`, "new\nline\x1b[31m")
	change := s.record(t, s.spec.Commit)
	equal(t, "changed", change.Changed, true)
	raw := s.Project.Git(t, "diff-tree", "-r", "-z", "--no-renames", "--abbrev=4", s.spec.Commit, change.Commit)
	want := map[string]string{
		"src/app.txt": "100644 000000 D", "new.bin": "000000 100644 A", "run.sh": "100755 100644 M",
		"src/link": "000000 120000 A", "odd dir/new\nline\x1b[31m": "000000 100644 A", "-n": "000000 100644 A",
	}
	fields := strings.Split(strings.TrimSuffix(raw, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		word := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		equal(t, fields[i+1], word[0]+" "+word[1]+" "+word[4], want[fields[i+1]])
		delete(want, fields[i+1])
	}
	equal(t, "not recorded", len(want), 0)
	equal(t, "binary", s.Project.Git(t, "cat-file", "blob", change.Commit+":new.bin"), "\x00\xff\r")
	equal(t, "parent", s.Project.Git(t, "rev-parse", change.Commit+"^"), s.spec.Commit)
	equal(t, "message", s.Project.Git(t, "log", "-1", "--format=%B", change.Commit), "work\n")
	equal(t, "author", s.Project.Git(t, "log", "-1", "--format=%an <%ae> %cn <%ce>", change.Commit), "A Recorder <recorder@example.org> A Recorder <recorder@example.org>")
	s.Project.Git(t, "fsck", "--strict")
}

func testRecordTwice(t *testing.T, s *site) {
	untouched := s.record(t, s.spec.Commit)
	equal(t, "untouched", untouched, environment.Change{Commit: s.spec.Commit, Tree: s.Project.Git(t, "rev-parse", s.spec.Commit+"^{tree}")})
	s.must(t, "echo more >>README.md")
	first := s.record(t, s.spec.Commit)
	equal(t, "second record", s.record(t, s.spec.Commit), first)
	again := s.make(t, s.spec)
	second, err := again.Record(t.Context(), s.spec.Commit, "work\n")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "record after a restart", second, first)
}

// testChanges records one change after another: each script starts from the files of the last.
func testChanges(t *testing.T, s *site) {
	parent := s.spec.Commit
	difference := []string{"diff-tree", "-r", "--no-renames", "--name-status"}
	for _, step := range []struct{ name, script, want string }{
		{"first", "echo 1 >first && echo keep >kept", "A\tfirst\nA\tkept"},
		{"second", "echo 2 >second && rm first", "D\tfirst\nA\tsecond"},
		{"ignored, but tracked", "echo src/ >>.gitignore && echo three >>src/app.txt", "M\t.gitignore\nM\tsrc/app.txt"},
		{"later", "echo x >x", "A\tx"},
		{"not ignored any more", "git checkout --quiet HEAD .gitignore src && rm x", "M\t.gitignore\nM\tsrc/app.txt\nD\tx"},
		{"a pipe is left out and does not hang", "mkfifo pipe && echo x >file", "A\tfile"},
		{"a commit of the agent's own moves nothing", "echo y >y && git add y && git commit --quiet --message=mine && git checkout --quiet -b elsewhere", "A\ty"},
		{"a link in place of a folder, a folder in place of a file and a pipe in place of a file",
			"rm run.sh README.md && mkfifo run.sh && mkdir README.md && echo x >README.md/x && mv src copy && ln -s copy src",
			"D\tREADME.md\nA\tREADME.md/x\nA\tcopy/app.txt\nA\tcopy/binary\nD\trun.sh\nA\tsrc\nD\tsrc/app.txt\nD\tsrc/binary"},
		{"the way back", "rm src run.sh && mv copy src && rm -r README.md && echo file >README.md",
			"A\tREADME.md\nD\tREADME.md/x\nD\tcopy/app.txt\nD\tcopy/binary\nD\tsrc\nA\tsrc/app.txt\nA\tsrc/binary"},
	} {
		s.must(t, step.script)
		change := s.record(t, parent)
		equal(t, step.name, s.Project.Git(t, append(difference, parent, change.Commit)...), step.want)
		equal(t, step.name+": parent", s.Project.Git(t, "rev-parse", change.Commit+"^"), parent)
		parent = change.Commit
	}
	equal(t, "on the first parent", s.Project.Git(t, append(difference, s.spec.Commit, parent)...),
		"M\tREADME.md\nA\tfile\nA\tkept\nD\trun.sh\nA\tsecond\nA\ty")
}

func testNested(t *testing.T, s *site) {
	commit := "git -c user.name=x -c user.email=x@localhost -C sub commit --quiet --allow-empty --message=x && git -C sub rev-parse HEAD"
	first := s.must(t, "git init --quiet sub && "+commit)
	change := s.record(t, s.spec.Commit)
	equal(t, "entry", s.Project.Git(t, "ls-tree", change.Commit, "sub")+"\n", "160000 commit "+strings.TrimSpace(first)+"\tsub\n")
	second := s.must(t, commit)
	change = s.record(t, change.Commit)
	equal(t, "later entry", s.Project.Git(t, "rev-parse", change.Commit+":sub")+"\n", second)
	s.must(t, "rm -rf sub")
	equal(t, "tree without it", s.record(t, change.Commit).Tree, s.Project.Git(t, "rev-parse", s.spec.Commit+"^{tree}"))
}

// hostile scripts get the path of a canary as $1. The canary must never exist on this machine.
var hostile = map[string]string{
	"its configuration runs programs": `
		git config core.fsmonitor "touch '$1'" && git config filter.x.clean "touch '$1'; echo spoiled" &&
		git config filter.x.smudge "touch '$1'" && git config filter.x.required true &&
		git config diff.x.textconv "touch '$1'" && git config core.editor "touch '$1'" &&
		echo '* filter=x diff=x' >.git/info/attributes`,
	"its attributes name a filter": `
		git config filter.x.process "touch '$1'" && git config filter.x.clean "touch '$1'; echo spoiled" && echo '* filter=x' >.gitattributes`,
	"its hooks run programs": `
		for hook in pre-commit post-checkout post-index-change reference-transaction pre-auto-gc post-merge; do
			printf '#!/bin/sh\ntouch "%s"\n' "$1" >.git/hooks/$hook && chmod +x .git/hooks/$hook || exit
		done; git config core.hooksPath .git/hooks`,
	"its .git is gone":             `rm -rf .git`,
	"its .git is a file elsewhere": `mv .git elsewhere && echo "gitdir: $PWD/elsewhere" >.git`,
	"its .git is a link":           `rm -rf .git && ln -s "$HOME" .git`,
	"its common folder is rewritten": `
		mkdir -p "$HOME/common" && cp -r .git/. "$HOME/common" && echo "$HOME/common" >.git/commondir`,
	"its configuration is broken":      `echo '[core' >.git/config`,
	"its index is rubbish":             `echo rubbish >.git/index`,
	"its index hides changes":          `git update-index --assume-unchanged README.md && git update-index --skip-worktree src/app.txt`,
	"its exclude file ignores all":     `echo '*' >.git/info/exclude`,
	"its HOME has a git configuration": `git config --global core.fsmonitor "touch '$1'" && git config --global core.excludesFile "$HOME/all" && echo '*' >"$HOME/all"`,
	"a bare repository is nested": `
		git init --quiet --bare sub/bare && git --git-dir=sub/bare config core.fsmonitor "touch '$1'" &&
		git --git-dir=sub/bare config core.worktree "$PWD"`,
	"a repository is nested": `
		git init --quiet sub && cd sub && git config user.name x && git config user.email x@localhost &&
		echo '* filter=x' >.gitattributes && echo clean >file && git add . && git commit --quiet --message=x && echo dirty >file &&
		git config core.fsmonitor "touch '$1'" && git config filter.x.clean "touch '$1'; cat"`,
}

func testHostile(t *testing.T, s *site) {
	for name, script := range s.sampled(hostile) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := s.another(t, "h"+strings.ToLower(rand.Text()))
			canary := filepath.Join(t.TempDir(), "canary")
			// Without isolation the script's own git may make the canary.
			s.must(t, "mkdir -p .git/hooks .git/info && ("+script+"\n) && rm -f \"$1\" && printf 'read\r\nme\n' >README.md && echo work >work.txt && echo three >src/app.txt", canary)
			first := s.record(t, s.spec.Commit)
			s.must(t, "echo again >again.txt")
			second := s.record(t, first.Commit)
			if _, err := os.Lstat(canary); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the canary exists (%v)", err)
			}
			for file, want := range map[string]string{
				"README.md": "read\r\nme", "work.txt": "work", "src/app.txt": "three", "again.txt": "again",
			} {
				equal(t, file, s.Project.Git(t, "cat-file", "blob", second.Commit+":"+file), want)
			}
			if names := s.Project.Git(t, "ls-tree", "-r", "--name-only", second.Commit); strings.Contains(names, ".git/") {
				t.Errorf("git metadata was recorded: %s", names)
			}
		})
	}
}

func testRead(t *testing.T, s *site) {
	s.must(t, "mkfifo pipe && ln -s /etc etc && ln -s /etc/passwd passwd && ln -s README.md inner")
	change := s.record(t, s.spec.Commit)
	equal(t, "modes", s.Project.Git(t, "ls-tree", "--format=%(objectmode) %(path)", change.Commit, "etc", "inner", "passwd"),
		"120000 etc\n120000 inner\n120000 passwd")
	for _, name := range []string{"", ".", "src", "pipe", "../../README.md", "/etc/passwd", "src/../../x", "etc/passwd", "passwd", "inner"} {
		if data, err := s.Read(t.Context(), name, 10); err == nil {
			t.Errorf("%q was read: %q", name, data)
		}
	}
	if _, err := s.Read(t.Context(), "src/none", 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v for a missing file", err)
	}
	data, err := s.Read(t.Context(), "src/app.txt", 5)
	if err != nil || string(data) != "one\nt" {
		t.Errorf("got %q, %v", data, err)
	}
}
