package git_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"signalbox/internal/git"
	"signalbox/internal/process"
)

func TestWhatIsHalfDoneOnABranchIsFound(t *testing.T) {
	t.Parallel()
	for what, commands := range map[string][][]string{
		"merge":       {{"merge", "other"}},
		"rebase":      {{"rebase", "other"}},
		"cherry-pick": {{"cherry-pick", "other"}},
		"revert":      {{"revert", "--no-edit", "HEAD~1"}},
		"am":          {{"format-patch", "--quiet", "-1", "-o", ".git/patches", "other"}, {"am", ".git/patches/0001-theirs.patch"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			p.write("a", "a\n")
			p.commit("first")
			p.git("branch", "unconcerned")
			p.git("checkout", "--quiet", "-b", "other")
			p.write("a", "theirs\n")
			p.commit("theirs")
			p.git("checkout", "--quiet", "main")
			p.write("a", "b\n")
			p.commit("second")
			p.write("a", "ours\n")
			p.commit("ours")
			linked := filepath.Join(t.TempDir(), "linked")
			p.git("worktree", "add", "--quiet", linked, "unconcerned")
			repo := p.open()
			if err := repo.Unfinished(t.Context(), "refs/heads/main"); err != nil {
				t.Errorf("before: %v", err)
			}
			for _, args := range commands {
				stops := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.org"}, args...)...)
				stops.Dir = p.dir
				out, _ := stops.CombinedOutput()
				t.Logf("%s", out)
			}
			var unfinished *git.UnfinishedError
			if err := repo.Unfinished(t.Context(), "refs/heads/main"); !errors.As(err, &unfinished) || unfinished.What != what || unfinished.Dir != p.dir {
				t.Errorf("%+v", err)
			}
			if err := repo.Unfinished(t.Context(), "refs/heads/unconcerned"); err != nil {
				t.Errorf("another branch: %v", err)
			}
			fromThere := must(git.Open(t.Context(), process.Host{}, linked))(t)
			if err := fromThere.Unfinished(t.Context(), "refs/heads/main"); !errors.As(err, &unfinished) || unfinished.What != what {
				t.Errorf("asked in another work tree: %v", err)
			}
		})
	}
}
