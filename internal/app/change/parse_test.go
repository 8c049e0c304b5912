package change_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/app/change"
)

// both are the trees before and after: every way in which a file can change, and names and lines that would like to be something else.
var both = [2]map[string]string{
	{"edited.go": "package a\n\nfunc f() {\n\tone()\n\ttwo()\n}\n", "gone.txt": "-- a/edited.go\n++ b/edited.go\n", "moved from.txt": strings.Repeat("the same\n", 9),
		"noend": "x\ny", "quo\"ted\n\x1b[31m": "q\n", "ünï": "u\n", "script": "s\n", "blob": "\x00\x01", "old empty": ""},
	{"edited.go": "package a\n\nfunc f() {\n\tone(1)\n\ttwo()\n\tthree()\n}\n", "moved to.txt": strings.Repeat("the same\n", 9) + "more\n",
		"noend": "x\nz", "quo\"ted\n\x1b[31m": "r\n", "ünï": "v\n", "script": "s\n", "blob": "\x00\x02", "new empty": "", "<img src=x onerror=alert(1)>": "diff --git a/x b/x\n@@ -1 +1 @@\n\x1b]0;title\n"},
}

// patch is git's own, of both.
func patch(t *testing.T, how ...string) string {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.quotepath=false"}, args...)...).Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	git("init", "-q")
	for _, files := range both {
		git("rm", "-rqf", "--ignore-unmatch", ".")
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		git("add", "-A")
		if git("log", "--all", "-1") != "" {
			git("update-index", "--chmod=+x", "script")
		}
		git("commit", "-q", "-m", "x")
	}
	return git(append([]string{"diff-tree", "-r", "-p", "--full-index", "HEAD~", "HEAD"}, how...)...)
}

func parsed(text string, limits change.Limits) ([]change.File, bool) {
	p := change.NewParser(limits)
	for i := 0; i < len(text); i += 7 { // as it comes
		_, _ = p.Write([]byte(text[i:min(len(text), i+7)]))
	}
	return p.Files()
}

// shown is one line for each file, and its lines as they are numbered.
func shown(files []change.File) string {
	var b strings.Builder
	for _, f := range files {
		_, _ = fmt.Fprintf(&b, "%s < %s  %s>%s  +%d -%d", f.Path, f.OldPath, f.OldMode, f.NewMode, f.Added, f.Deleted)
		for flag, is := range map[string]bool{" binary": f.Binary, " cut": f.Cut} {
			if is {
				b.WriteString(flag)
			}
		}
		b.WriteString("\n")
		for _, h := range f.Hunks {
			for _, l := range h.Lines {
				_, _ = fmt.Fprintf(&b, "  %d %d %c%s", l.Old, l.New, l.Kind, l.Text)
				if l.NoEnd {
					b.WriteString(" (no end)")
				}
				b.WriteString("\n")
			}
		}
	}
	return b.String()
}

func TestAPatchOfGitIsReadAsItIs(t *testing.T) {
	t.Parallel()
	files, more := parsed(patch(t, "-M"), change.Page)
	want := `<img src=x onerror=alert(1)> < <img src=x onerror=alert(1)>  >100644  +3 -0
  0 1 +diff --git a/x b/x
  0 2 +@@ -1 +1 @@
  0 3 +` + "\x1b" + `]0;title
blob < blob  100644>100644  +0 -0 binary
edited.go < edited.go  100644>100644  +2 -1
  1 1  package a
  2 2  ` + `
  3 3  func f() {
  4 0 -	one()
  0 4 +	one(1)
  5 5  	two()
  0 6 +	three()
  6 7  }
gone.txt < gone.txt  100644>  +0 -2
  1 0 --- a/edited.go
  2 0 -++ b/edited.go
moved to.txt < moved from.txt  100644>100644  +1 -0
  7 7  the same
  8 8  the same
  9 9  the same
  0 10 +more
new empty < old empty  >  +0 -0
noend < noend  100644>100644  +1 -1
  1 1  x
  2 0 -y (no end)
  0 2 +z (no end)
quo"ted < quo"ted  100644>100644  +1 -1
  1 0 -q
  0 1 +r
script < script  100644>100755  +0 -0
ünï < ünï  100644>100644  +1 -1
  1 0 -u
  0 1 +v
`
	if got := shown(files); got != want || more {
		t.Errorf("it reads\n%s\nand not\n%s (more: %v)", got, want, more)
	}
}

func TestTheOtherFormsOfAPatch(t *testing.T) {
	t.Parallel()
	files, _ := parsed(patch(t, "--binary", "--no-renames"), change.Page) // as a step's patch is kept
	if got := shown(files); !strings.Contains(got, "blob < blob  100644>100644  +0 -0 binary\nedited.go") || !strings.Contains(got, "new empty < new empty  >100644  +0 -0\n") {
		t.Errorf("a patch to apply is %s", got)
	}
	few, more := parsed(patch(t), change.Limits{Files: 3, Lines: 4, FileLines: 2})
	if got := shown(few); strings.Count(got, "\n  ") != 4 || !more || !few[0].Cut || few[0].Added != 3 || few[2].Added != 2 {
		t.Errorf("within limits it is %s", got)
	}
	only, _ := parsed(patch(t), change.Single("noend"))
	for _, f := range only {
		if has := len(f.Hunks) > 0 && len(f.Hunks[0].Lines) > 0; has != (f.Path == "noend") {
			t.Errorf("of %s it has lines: %v", f.Path, has)
		}
	}
}

func TestReplacedLinesStandSideBySide(t *testing.T) {
	t.Parallel()
	files, _ := parsed("diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,4 +1,3 @@ section\n x\n-a\n-b\n-c\n+d\n y\n+z\n", change.Page)
	var got []string
	for _, row := range files[0].Hunks[0].Pairs() {
		side := func(l *change.Line) string {
			if l == nil {
				return "·"
			}
			return l.Text
		}
		got = append(got, side(row.Left)+side(row.Right))
	}
	if all := strings.Join(got, " "); all != "xx ad b· c· yy ·z" || files[0].Hunks[0].Section != "section" {
		t.Error(all, files[0].Hunks[0].Section)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("diff --git a/x b/x\nold mode 100644\nnew mode 100755\nindex 1..2 100644\n--- a/x\n+++ \"b/\\303\\274\"\n@@ -1 +1,2 @@ f\n-a\n+b\n\\ No newline at end of file\n"))
	f.Add([]byte("diff --git \"a/\\\"\" b/y z\nGIT binary patch\nliteral 3\nKc${NkU}WL\n@@ -1 +1 @@\n"))
	limits := change.Limits{Files: 3, Lines: 9, FileLines: 5}
	f.Fuzz(func(t *testing.T, data []byte) {
		files, _ := parsed(string(data), limits)
		lines := 0
		for i := range files {
			for j := range files[i].Hunks {
				h := &files[i].Hunks[j]
				rows := 0
				for _, row := range h.Pairs() {
					if row.Left != nil {
						rows++
					}
					if row.Right != nil && row.Right != row.Left {
						rows++
					}
				}
				if lines += len(h.Lines); rows != len(h.Lines) {
					t.Errorf("%d lines stand in %d places", len(h.Lines), rows)
				}
			}
		}
		if lines > limits.Lines || len(files) > limits.Files {
			t.Errorf("%d files with %d lines", len(files), lines)
		}
	})
}
