package clone_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/process"
)

// ahead returns a project with a snapshot, and the specification of an environment at a later commit.
func ahead(t *testing.T, way clone.Way, change func(p *environmenttest.Project)) (*environmenttest.Project, *clone.Driver, environment.Spec) {
	t.Helper()
	p, d := keeping(t, way)
	kept(t, d, p)
	change(p)
	p.Git(t, "add", "--force", "README.md", ".gitignore", "src")
	p.Git(t, "commit", "--quiet", "--message=next")
	s := p.Spec("next")
	s.Commit = strings.TrimSpace(p.Git(t, "rev-parse", "HEAD"))
	e, err := d.Make(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	look := process.Command{Args: []string{"sh", "-c", "test ! -e src/build/out && test ! -e node_modules"}}
	if r, err := e.(*clone.Environment).Look(t.Context(), look); err != nil || !r.OK() {
		t.Fatal(r, err)
	}
	return p, d, s
}

// An environment that is at its commit already isn't brought there again to use all of its snapshot.
func TestRestoreShowsTheRestOfTheSnapshotBelow(t *testing.T) {
	eachLayered(t, func(t *testing.T, way clone.Way) {
		p, d, s := ahead(t, way, func(p *environmenttest.Project) { p.Write(t, "README.md", "another\n") })
		written := filepath.Join(state(p), s.ID, "tree-layer", "upper", "README.md")
		hold, err := os.Open(written) // while it is open, no other file gets its inode
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = hold.Close() }()
		inode := func() uint64 {
			var found unix.Stat_t
			if err := unix.Stat(written, &found); err != nil {
				t.Fatal(err)
			}
			return found.Ino
		}
		before := inode()
		e := restored(t, d, s, true)
		if inode() != before {
			t.Error("the commit was brought there twice")
		}
		all := verify + "; git status --porcelain; git rev-parse HEAD"
		expect(t, e, all, strings.Replace(verified, "a project", "another", 1)+s.Commit+"\n")
		expect(t, e, `echo x >src/build/out && echo x >"$HOME/x"`, "")
		if e = restored(t, d, s, true); inode() == before {
			t.Error("an environment in which a command ran was kept")
		}
		expect(t, e, all+`; ls "$HOME"`, strings.Replace(verified, "a project", "another", 1)+s.Commit+"\n")
	})
}

// A file of the snapshot that a later commit doesn't ignore is no part of that commit.
func TestRestoreShowsOnlyFilesThatItsCommitIgnores(t *testing.T) {
	eachLayered(t, func(t *testing.T, way clone.Way) {
		_, d, s := ahead(t, way, func(p *environmenttest.Project) {
			p.Write(t, ".gitignore", ".env\nlocal/\n")
			p.Write(t, "src/build/tracked", "tracked\n")
		})
		e := restored(t, d, s, true)
		expect(t, e, "git status --porcelain; git rev-parse HEAD; cat src/build/*; cat node_modules/tool", s.Commit+"\ntracked\ntool\n")
	})
}

// Wherever such a restore was killed, restoring again works.
func TestARestoreKilledWhileItShowsTheRestIsRepeated(t *testing.T) {
	needs(t, "strace")
	eachLayered(t, func(t *testing.T, way clone.Way) {
		swept(t, way, "restore", []string{"renameat", "mount", "umount2"}, 8, func(t *testing.T, operate func(*environmenttest.Project)) {
			p, d := keeping(t, way)
			s := p.Spec("other")
			e := restored(t, d, s, false)
			expect(t, e, setup, "")
			if err := e.Snapshot(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			made(t, d, p)
			d.Die()
			operate(p)
			d = clone.New(keepingConfig(t, p, way))
			made(t, d, p)
			expect(t, restored(t, d, p.Spec("site"), true), verify+"; git status --porcelain", verified)
		})
	})
}
