package policy

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"signalbox/internal/workflow/wording"
)

// Verdict is what the rules say of a recorded change.
type Verdict struct {
	Size Size
	// Flags are changes that a person must agree to, even where approval is automatic.
	Flags []string
	// Refused are changes that no approval admits; TooLarge: one of them is a file over the limit.
	Refused  []string
	TooLarge bool
}

const (
	modeSymlink = "120000"
	modeGitlink = "160000"
	modeAbsent  = "000000"
	// maxFileBytes is the largest file that a change may add: beyond it git itself becomes a
	// denial of service for everyone who clones.
	maxFileBytes = 50 << 20
)

// Size is how much a change changes.
type Size struct {
	FilesChanged, LinesAdded, LinesDeleted int
	// TooLarge: it is more than the run's limit, and needs a person (R10).
	TooLarge bool
}

// Inspect applies size and path policy to a change. The agent works for a
// stranger's text: what would run on other people's machines, or on the forge,
// is never merged without a person.
func Inspect(files []FileChange, maxLines int) Verdict {
	var v Verdict
	v.Size.FilesChanged = len(files)
	for _, f := range files {
		v.Size.LinesAdded += max(f.Added, 0)
		v.Size.LinesDeleted += max(f.Deleted, 0)
		v.inspect(f)
	}
	if n := v.Size.LinesAdded + v.Size.LinesDeleted; maxLines > 0 && n > maxLines {
		v.Size.TooLarge = true
		v.Flags = append(v.Flags, fmt.Sprintf("it changes %d lines, more than %d", n, maxLines))
	}
	return v
}

func (v *Verdict) inspect(f FileChange) {
	name := f.name()
	switch {
	case f.deleted() && oddName(f.Path): // may go, by whatever name
	case oddName(f.Path):
		v.Refused = append(v.Refused, name+": a file name with control characters or broken UTF-8")
	case reservedPath(f.Path):
		v.Refused = append(v.Refused, name+": belongs to git or to Signalbox")
	case f.Size > maxFileBytes:
		v.TooLarge = true
		v.Refused = append(v.Refused, fmt.Sprintf("%s: %d MiB, more than %d", name, f.Size>>20, maxFileBytes>>20))
	case f.NewMode == modeSymlink:
		v.Flags = append(v.Flags, "it adds the symbolic link "+name)
	case f.NewMode == modeGitlink || f.OldMode == modeGitlink:
		v.Flags = append(v.Flags, "it changes the embedded repository "+name)
	case strings.EqualFold(path.Base(f.Path), "HEAD"):
		v.Flags = append(v.Flags, "it changes "+name+", by which git takes a folder for a repository")
	case !f.deleted() && wording.Deceptive(f.Path):
		v.Flags = append(v.Flags, "it adds a file whose name shows something else than it is: "+name)
	case sensitivePath(f.Path) && !f.OwnRequest:
		v.Flags = append(v.Flags, "it changes "+name)
	}
}

// deleted: a renamed file is one deleted and one added.
func (f FileChange) deleted() bool { return f.NewMode == modeAbsent }

// oddName: a name that a list of names, or a terminal, cannot hold as it is.
func oddName(p string) bool {
	return !utf8.ValidString(p) || strings.ContainsFunc(p, unicode.IsControl)
}

// reservedPath: names that git treats as its own on some file system, and ours.
func reservedPath(p string) bool {
	for part := range strings.FieldsFuncSeq(p, func(r rune) bool { return r == '/' || r == '\\' }) {
		if folded := foldedName(part); folded == ".git" || folded == "git~1" || part == ".." {
			return true
		}
	}
	switch first, _, _ := strings.Cut(strings.ToLower(p), "/"); first {
	case ".signalbox", ".worktrees", "environments.json", "state.json", "state.json.bak":
		return true
	case "runs":
		return looksLikeRun(p)
	}
	return false
}

// looksLikeRun: runs/<request>/<run>/…; a project may have a folder "runs" of its own.
func looksLikeRun(p string) bool { return strings.EqualFold(path.Base(p), "stage.json") }
