package git_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"signalbox/internal/git"
)

const dataRef = "refs/signalbox/state/1"

func TestDataIsReadAsItWasCommitted(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("file", "x\n")
	base := p.commit("base")
	p.write("file", "y\n")
	head := p.commit("head")
	repo := p.open()
	who := git.Identity{Name: "Signalbox", Email: "signalbox@localhost"}
	var ids []string
	files := []git.DataFile{{"a.json", []byte("{}\n")}, {"run/b", []byte("M 100644 inline evil\ndata 3\n\x00\r\n")}}
	for range 2 {
		id, err := repo.CommitData(t.Context(), dataRef, files, []string{base, head}, "State\n", who, time.Unix(1, 0))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
		files[0].Content = []byte("{}\n")
	}
	if ids[0] != ids[1] || p.git("rev-parse", dataRef) != ids[0] || p.git("rev-parse", dataRef+"^2") != head {
		t.Errorf("the commits are %v", ids)
	}
	got, err := repo.DataFiles(t.Context(), ids[0], 100, 100)
	if err != nil || !reflect.DeepEqual(got, files) {
		t.Errorf("got %q, %v", got, err)
	}
	for _, path := range []string{"../x", "a b", "/x", "x\ny", "a/../b", ".git/config", "a..b"} {
		if _, err := repo.CommitData(t.Context(), dataRef, []git.DataFile{{Path: path}}, nil, "State\n", who, time.Unix(1, 0)); !errors.Is(err, git.ErrInvalid) {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestDataThatIsMoreThanPlainFilesIsRefused(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("file", "12345")
	base := p.commit("base")
	blob := p.git("rev-parse", "HEAD:file")
	repo := p.open()
	for name, tree := range map[string]string{
		"a link":             "120000 blob " + blob + "\trun",
		"a program":          "100755 blob " + blob + "\trun",
		"a submodule":        "160000 commit " + base + "\trun",
		"a name with spaces": "100644 blob " + blob + "\ta b",
		"a hidden name":      "100644 blob " + blob + "\t.lock",
		"two dots":           "100644 blob " + blob + "\ta..b",
		"a large file":       "100644 blob " + blob + "\ta\n100644 blob " + blob + "\tlarge",
	} {
		each, total := int64(5), int64(9)
		id := p.git("commit-tree", "-m", "evil", p.gitInput(tree+"\n", "mktree", "--missing"))
		if _, err := repo.DataFiles(t.Context(), id, each, total); !errors.Is(err, git.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	id := p.git("commit-tree", "-m", "good", p.gitInput("100644 blob "+blob+"\ta\n", "mktree"))
	if _, err := repo.DataFiles(t.Context(), id, 4, 100); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a file above the limit: %v", err)
	}
	if _, err := repo.DataFiles(t.Context(), id, 5, 5); err != nil {
		t.Error(err)
	}
}
