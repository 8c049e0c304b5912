package clone_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/process/processtest"
)

// eachCopied runs a test for the ways in which an environment is a clone of its own.
func eachCopied(t *testing.T, test func(t *testing.T, p *environmenttest.Project, d *clone.Driver)) {
	t.Parallel()
	for _, way := range []clone.Way{clone.Shared, clone.Copy} {
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			p, d := keeping(t, way)
			test(t, p, d)
		})
	}
}

func TestAHistoryIsCopiedFromASnapshotAndCompletedFromTheProject(t *testing.T) {
	eachCopied(t, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		_, snapshot := kept(t, d, p)
		git := filepath.Join(snapshot, "tree", ".git")
		only := p.Git(t, "--git-dir="+git, "hash-object", "-w", filepath.Join(snapshot, "base.json")) // the project has no such object
		first := p.Commit
		p.Git(t, "commit", "--quiet", "--allow-empty", "--message=second")
		p.Commit = p.Git(t, "rev-parse", "HEAD")
		spec := p.Spec("other")
		e := madeAs(t, d, spec)
		theirs := inodes(t, filepath.Join(git, "objects"), filepath.Join(p.Root, ".git", "objects"))
		for inode, path := range inodes(t, filepath.Join(p.Root, spec.Dir, ".git")) {
			if theirs[inode] != "" {
				t.Errorf("%s is %s", path, theirs[inode])
			}
		}
		for _, away := range []string{filepath.Join(p.Root, ".git", "objects"), filepath.Join(git, "objects")} {
			if err := os.Rename(away, away+".away"); err != nil {
				t.Fatal(err)
			}
		}
		expect(t, e, "git fsck --full --strict 2>&1 | grep -v dangling; git cat-file -e "+only+" && git log --format=%H && git status --porcelain", p.Commit+"\n"+first+"\n")
	})
}

// inodes returns the inodes of the files below some folders.
func inodes(t *testing.T, dirs ...string) map[uint64]string {
	t.Helper()
	found := map[uint64]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			if err == nil {
				found[info.Sys().(*syscall.Stat_t).Ino] = path
			}
			return err
		})
		if err != nil || len(found) == 0 {
			t.Fatalf("%d files in %s: %v", len(found), dir, err)
		}
	}
	return found
}

func TestASnapshotWithADamagedHistoryIsNotCloned(t *testing.T) {
	eachCopied(t, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		_, snapshot := kept(t, d, p)
		for inode, path := range inodes(t, filepath.Join(snapshot, "tree", ".git", "objects")) {
			if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, []byte(strconv.FormatUint(inode, 10)), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		expect(t, madeAs(t, d, p.Spec("made")), "git fsck --full && git log --format=%H && git status --porcelain", p.Commit+"\n")
		expect(t, restored(t, d, p.Spec("renewed"), true), "git fsck --full && "+verify+"; git status --porcelain", verified)
		if err := os.RemoveAll(filepath.Join(snapshot, "tree", ".git", "objects")); err != nil {
			t.Fatal(err)
		}
		expect(t, madeAs(t, d, p.Spec("again")), "git fsck --full && git log --format=%H && git status --porcelain", p.Commit+"\n")
		expectNoLeftovers(t, p)
	})
}

// A git that is killed with its Signalbox leaves children that continue to check files out.
func TestProcessesOfAKilledMakeEndBeforeItIsMadeAgain(t *testing.T) {
	t.Parallel()
	p, bin := environmenttest.NewProject(t), t.TempDir()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	script := `#!/bin/sh
case " $* " in
*" reset "*)
	sh -c 'echo $$ >"$1/pid"; n=0; while :; do n=$((n+1)); : >"$GIT_WORK_TREE/$n"; done' sh "` + bin + `" &
	while ! test -s "` + bin + `/pid"; do :; done
	kill -9 $PPID
	;;
esac
exec ` + git + ` "$@"
`
	if err := processtest.WriteProgram(filepath.Join(bin, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "make", "-1", p.Root, p.Commit)
	c.Env = append(os.Environ(), "SIGNALBOX_TEST_CRASH="+string(clone.Off), "SIGNALBOX_TEST_PATH="+bin+":/usr/bin:/bin")
	if !environmenttest.Killed(t, "make", -1, c) {
		t.Fatal("it was not killed")
	}
	pid, err := os.ReadFile(filepath.Join(bin, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, made(t, clone.New(config(t, p)), p), "git status --porcelain && cat README.md", "a project\n")
	stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
	if err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("still runs: %s", stat)
	}
	expectNoLeftovers(t, p)
}
