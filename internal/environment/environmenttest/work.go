package environmenttest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"signalbox/internal/environment"
)

var workTests = []conformance{
	{"a new environment is a clean clone of its commit on its branch", testFresh},
	{"listed files are copied if git ignores them", testIncluded},
	{"making it again attaches, or rebuilds a deleted folder; another specification is refused", testMakeAgain},
	{"a folder that is not ours is neither used nor deleted", testOccupied},
	{"a specification with another path or an option is refused", testSpecs},
	{"a reset restores the commit whatever the agent did to its .git", testResetDamage},
	{"a reset reaches later and other commits", testResetElsewhere},
	{"a reset leaves ignored files", testResetIgnored},
	{"a reset keeps uncommitted work on a ref", testResetKeeps},
	{"removing leaves nothing and may be repeated", testRemove},
	{"HOME lasts, the temporary folder is new for each command", testHomes},
}

func testFresh(t *testing.T, s *site) {
	equal(t, "isolation", s.Isolation() != "none", s.Isolated)
	if s.Isolated {
		equal(t, "folder of another environment", s.another(t, "other").Dir(), s.Dir())
	} else {
		equal(t, "folder", s.Dir(), s.folder())
	}
	s.expectClean(t, s.spec.Commit)
	equal(t, "remotes, tags, hooks and alternates", s.must(t, `git remote; git tag; ls .git/hooks .git/objects/info/alternates 2>/dev/null
		git commit --quiet --allow-empty --message='the agent can commit'`), "")
	projects := objects(t, s.Project.Root)
	for _, object := range objects(t, s.found(t, s.Environment, s.spec)) {
		if slices.ContainsFunc(projects, func(theirs fs.FileInfo) bool { return os.SameFile(object, theirs) }) {
			t.Errorf("%s is the project's own file", object.Name())
		}
	}
}

// objects returns the files of the objects in a checkout's repository.
func objects(t *testing.T, checkout string) (infos []fs.FileInfo) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(checkout, ".git", "objects"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		infos = append(infos, info)
		return err
	})
	if err != nil || len(infos) == 0 {
		t.Fatalf("the repository in %s has %d objects: %v", checkout, len(infos), err)
	}
	return infos
}

// looksClean prints the status of a work folder (nothing if it is clean), its commit by HEAD and by the history, and its branch.
const looksClean = `git status --porcelain 2>/dev/null; LC_ALL=C git status 2>&1 | grep progress
	git rev-parse HEAD && git log -1 --format=%H && git symbolic-ref HEAD`

// expectClean checks from the inside, and by recording, that the work folder is that of commit. Scripts may look at more in the
// same sandbox, which is what most of such a check costs; they print nothing.
func (s *site) expectClean(t *testing.T, commit string, scripts ...string) {
	t.Helper()
	scripts = append(scripts, looksClean)
	equal(t, "work folder", s.must(t, strings.Join(scripts, "\n")), commit+"\n"+commit+"\nrefs/heads/"+s.spec.Branch+"\n")
	equal(t, "changed", s.record(t, commit).Changed, false)
}

func testIncluded(t *testing.T, s *site) {
	if err := os.Symlink("/etc/passwd", filepath.Join(s.Project.Root, "link.conf")); err != nil {
		t.Fatal(err)
	}
	s.Project.Write(t, ".git/info/exclude", "link.conf\n")
	s.Project.Write(t, "notes.txt", "listed, but not ignored")
	s.spec = s.Project.Spec("second")
	s.Environment = s.make(t, s.spec)
	equal(t, "listed files", s.must(t, `cat .env 'local/a b[1].conf'`), "KEY=value\nlocal\n")
	equal(t, "others", s.must(t, "ls -d local/other.txt build/out link.conf notes.txt .signalbox .worktrees 2>/dev/null; : >.gitignore"), "")
	change := s.record(t, s.spec.Commit)
	equal(t, "recorded", s.Project.Git(t, "diff-tree", "-r", "--name-only", s.spec.Commit, change.Commit), ".gitignore")
}

func testMakeAgain(t *testing.T, s *site) {
	s.must(t, "echo x >x")
	again := s.make(t, s.spec)
	equal(t, "folder", again.Dir(), s.Dir())
	equal(t, "fingerprint", again.Fingerprint(), s.Fingerprint())
	equal(t, "work", s.must(t, "cat x"), "x\n")
	other := s.spec
	other.Branch = "signalbox/42-another"
	_, err := s.Driver.Make(t.Context(), other)
	made := new(environment.OtherSpecError)
	if !errors.As(err, &made) {
		t.Fatalf("the environment was made again from another specification: %v", err)
	}
	s.Environment = s.make(t, made.Made)
	equal(t, "work by what it was made from", s.must(t, "cat x"), "x\n")
	change := s.record(t, s.spec.Commit)
	// A person can only empty a mount point.
	if err := os.RemoveAll(s.folder()); err != nil && !errors.Is(err, syscall.EBUSY) {
		t.Fatal(err)
	}
	s.Environment = s.make(t, s.spec)
	s.expectClean(t, change.Commit)
}

func testOccupied(t *testing.T, s *site) {
	spec := s.Project.Spec("occupied")
	s.Project.Write(t, spec.Dir+"/mine", "mine")
	if _, err := s.Driver.Make(t.Context(), spec); err == nil {
		t.Error("an environment was made in a folder that is not ours")
	}
	if err := s.Driver.Remove(t.Context(), spec); err == nil {
		t.Error("a folder that is not ours was removed")
	}
	if _, err := os.Stat(filepath.Join(s.Project.Root, spec.Dir, "mine")); err != nil {
		t.Error(err)
	}
}

func testSpecs(t *testing.T, s *site) {
	specs := map[string]environment.Spec{}
	for _, id := range []string{"", "..", "a/b", "-rf", "A", "a\x00", strings.Repeat("a", 300)} {
		spec := s.spec
		spec.ID = id
		specs["id "+id] = spec
	}
	for _, dir := range []string{"", "..", "/tmp", ".worktrees", ".worktrees/issue-1-", ".worktrees/issue-1-a/..", ".worktrees/issue-1-a\n", "issue-1-a", ".worktrees/../issue-1-a"} {
		spec := s.spec
		spec.Dir = dir
		specs["folder "+dir] = spec
	}
	for _, commit := range []string{"", "HEAD", "--output=x", s.spec.Commit[:10]} {
		spec := s.Project.Spec("commit")
		spec.Commit = commit
		specs["commit "+commit] = spec
	}
	for _, branch := range []string{"", "main", "--output=x", "signalbox/1-a..b", "signalbox/1-a/b"} {
		spec := s.Project.Spec("branch")
		spec.Branch = branch
		specs["branch "+branch] = spec
	}
	for name, spec := range specs {
		if _, err := s.Driver.Make(t.Context(), spec); err == nil {
			t.Errorf("an environment was made with %s", name)
		}
		if err := s.Driver.Remove(t.Context(), spec); err == nil {
			t.Errorf("an environment was removed with %s", name)
		}
	}
}

func testRemove(t *testing.T, s *site) {
	s.must(t, `mkdir -p deep/er "$HOME/go/pkg" && echo x >deep/er/file && echo x >"$HOME/go/pkg/file" && chmod 500 deep/er "$HOME/go/pkg" && chmod 000 deep && ln -s "$1" out`,
		s.Project.Root)
	for range 2 {
		if err := s.Driver.Remove(t.Context(), s.spec); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(s.folder()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the folder is still there (%v)", err)
		}
	}
	left, err := os.ReadDir(filepath.Dir(s.folder()))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(s.Project.Root, "README.md")); err != nil {
		t.Error(err)
	}
	s.Environment = s.make(t, s.spec)
	s.expectClean(t, s.spec.Commit)
}
