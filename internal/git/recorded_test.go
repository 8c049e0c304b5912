package git_test

import (
	"os"
	"path/filepath"
	"testing"
)

const settingsFile = ".signalbox/config.yaml"

func TestRecordedSaysWhetherGitHoldsAFileOrMay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(p project)
		want    bool
	}{
		"nothing committed":    {func(p project) { p.write(settingsFile, "mine") }, false},
		"never committed":      {func(p project) { p.write("a", "a"); p.commit("a"); p.write(settingsFile, "mine") }, false},
		"missing":              {func(p project) { p.write("a", "a"); p.commit("a") }, false},
		"committed":            {func(p project) { p.write(settingsFile, "theirs"); p.commit("a") }, true},
		"committed and edited": {func(p project) { p.write(settingsFile, "theirs"); p.commit("a"); p.write(settingsFile, "mine") }, true},
		"only in the index":    {func(p project) { p.write("a", "a"); p.commit("a"); p.write(settingsFile, "staged"); p.git("add", "-A") }, true},
		"only in HEAD": {func(p project) {
			p.write(settingsFile, "x")
			p.commit("a")
			p.git("rm", "-q", "--cached", settingsFile)
		}, true},
		"a merge under way": {merging, true},
		"a link": {func(p project) {
			p.write("evil.yaml", "x")
			p.write(".signalbox/other", "x")
			p.link("../evil.yaml", settingsFile)
		}, true},
		"below a link":               {func(p project) { p.write("evil/config.yaml", "x"); p.link("evil", ".signalbox") }, true},
		"in a repository of its own": {func(p project) { p.write(".signalbox/.git", "gitdir: ../x"); p.write(settingsFile, "x") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			c.prepare(p)
			if got, err := p.open().Recorded(t.Context(), settingsFile); got != c.want || err != nil {
				t.Errorf("%t, %v; want %t", got, err, c.want)
			}
		})
	}
}

func (p project) link(target, name string) {
	p.t.Helper()
	if err := os.Symlink(target, filepath.Join(p.dir, name)); err != nil {
		p.t.Fatal(err)
	}
}

// merging is a merge that waits for its commit.
func merging(p project) {
	p.write("a", "a")
	p.commit("base")
	p.git("checkout", "-q", "-b", "side")
	p.write(settingsFile, "theirs")
	p.commit("theirs")
	p.git("checkout", "-q", "-")
	p.write("b", "b")
	p.commit("ours")
	p.git("merge", "-q", "--no-commit", "side")
}
