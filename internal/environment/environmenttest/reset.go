package environmenttest

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// damage has scripts to run before a reset; $1 is a canary as in hostile.
var damage = map[string]string{
	"files changed, deleted and added": `echo x >>README.md && rm src/app.txt && mkdir -p a/b && echo x >a/b/c && chmod -x run.sh`,
	"work staged and committed":        `echo x >x && git add x && git commit --quiet --message=x && echo y >y && git add y`,
	"another branch checked out":       `git checkout --quiet --detach && git branch --quiet -D "$(git for-each-ref --format='%(refname:short)' refs/heads)"`,
	"a merge stopped halfway": `
		git checkout --quiet -b other && echo other >README.md && git commit --quiet -am other && git checkout --quiet - &&
		echo mine >README.md && git commit --quiet -am mine && ! git merge other >/dev/null`,
	"a rebase stopped halfway": `
		git checkout --quiet -b other && echo other >README.md && git commit --quiet -am other && git checkout --quiet - &&
		echo mine >README.md && git commit --quiet -am mine && ! git rebase other >/dev/null 2>&1`,
	"locks left behind":      `: >.git/index.lock && : >.git/HEAD.lock && : >.git/config.lock`,
	"all objects deleted":    `rm -rf .git/objects/pack .git/objects/??`,
	"HEAD and refs rubbish":  `echo rubbish >.git/HEAD && rm -rf .git/refs .git/packed-refs`,
	"folders made read-only": `mkdir -p a/b && echo x >a/b/c && chmod 500 a/b a`,
	"a folder in place of a file and a file in place of a folder": `
		rm README.md && mkdir -p README.md/x && echo x >README.md/x/y && rm -rf src && echo x >src`,
	"a link in place of a folder":   `rm -rf src && ln -s "$HOME" src && echo kept >"$HOME/app.txt"`,
	"objects replaced by others":    `git replace HEAD:README.md HEAD:run.sh`,
	"a sparse checkout":             `git sparse-checkout set src >/dev/null`,
	"line endings of its own":       `git config core.autocrlf true && git config core.eol crlf && echo '* text' >.git/info/attributes && rm README.md`,
	"a filter that writes its own":  `mkdir -p .git/info && git config filter.x.smudge 'echo spoiled' && git config filter.x.clean 'cat' && echo '* filter=x' >.git/info/attributes && rm README.md`,
	"an empty folder":               `mkdir -p empty/one`,
	"changed files marked as equal": `git update-index --assume-unchanged README.md && echo x >README.md`,
}

func testResetDamage(t *testing.T, s *site) {
	all := map[string]string{}
	for name, script := range damage {
		all[name] = script
	}
	for name, script := range hostile {
		all[name] = "mkdir -p .git/hooks .git/info && " + script
	}
	for name, script := range s.sampled(all) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := s.another(t, "d"+strings.ToLower(rand.Text()))
			s.must(t, "("+script+"\n)\nrm -f \"$HOME/.gitconfig\"", filepath.Join(t.TempDir(), "canary"))
			if err := s.Reset(t.Context(), s.spec.Commit, ""); err != nil {
				t.Fatal(err)
			}
			for name, want := range tracked {
				data, err := s.Read(t.Context(), name, 1000)
				if err != nil || string(data) != want {
					t.Errorf("%s: got %q, %v", name, data, err)
				}
			}
			// The clone's configuration may survive a reset that had nothing to write; it spoils only the clone's own view.
			s.expectClean(t, s.spec.Commit, `git config --unset-all core.fsmonitor`, `ls -d empty 2>/dev/null`)
		})
	}
}

func testResetElsewhere(t *testing.T, s *site) {
	s.must(t, "echo 1 >one")
	first := s.record(t, s.spec.Commit)
	if err := s.Reset(t.Context(), first.Commit, ""); err != nil { // whose content it has already
		t.Fatal(err)
	}
	s.expectClean(t, first.Commit)
	s.must(t, "echo 2 >two && rm one")
	second := s.record(t, first.Commit)
	s.Project.Write(t, "base.txt", "the base moved\n")
	s.Project.Git(t, "add", "base.txt")
	s.Project.Git(t, "commit", "--quiet", "--message=base")
	base := s.Project.Git(t, "rev-parse", "HEAD")
	for _, commit := range []string{first.Commit, second.Commit, s.spec.Commit, base, second.Commit} {
		for range 2 {
			if err := s.Reset(t.Context(), commit, ""); err != nil {
				t.Fatal(err)
			}
			s.expectClean(t, commit)
		}
	}
	if err := s.Reset(t.Context(), strings.Repeat("1", 40), ""); err == nil {
		t.Error("reset to a commit that is not there")
	}
}

func testResetIgnored(t *testing.T, s *site) {
	s.must(t, "mkdir build && echo out >build/out && echo x >x && rm -rf .git")
	if err := s.Reset(t.Context(), s.spec.Commit, ""); err != nil {
		t.Fatal(err)
	}
	equal(t, "ignored file", s.must(t, "cat build/out .env"), "out\nKEY=value\n")
	if _, err := s.Read(t.Context(), "x", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an untracked file is still there (%v)", err)
	}
}

func testResetKeeps(t *testing.T, s *site) {
	const ref = "refs/signalbox/kept/42"
	reset := func() {
		t.Helper()
		if err := s.Reset(t.Context(), s.spec.Commit, ref); err != nil {
			t.Fatal(err)
		}
	}
	reset()
	equal(t, "refs without work", s.Project.Git(t, "for-each-ref", ref), "")
	s.must(t, "echo first >first && echo x >>README.md && rm -rf .git")
	reset()
	kept := s.Project.Git(t, "rev-parse", ref)
	equal(t, "kept", s.Project.Git(t, "show", ref+":first"), "first")
	equal(t, "parent", s.Project.Git(t, "rev-parse", ref+"^"), s.spec.Commit)
	reset()
	equal(t, "kept by a reset without work", s.Project.Git(t, "rev-parse", ref), kept)
	s.must(t, "echo second >second")
	reset()
	equal(t, "kept second", s.Project.Git(t, "show", ref+":second"), "second")
	equal(t, "history", s.Project.Git(t, "rev-parse", ref+"^2"), kept)
	s.must(t, "echo done >done")
	change := s.record(t, s.spec.Commit)
	now := s.Project.Git(t, "rev-parse", ref)
	reset()
	equal(t, "kept although recorded as "+change.Commit, s.Project.Git(t, "rev-parse", ref), now)
	if left, err := filepath.Glob(filepath.Join(s.Project.Root, ".worktrees", ".*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := os.Stat(s.folder()); err != nil {
		t.Error(err)
	}
}
