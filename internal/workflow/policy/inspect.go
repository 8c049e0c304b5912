package policy

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"signalbox/internal/workflow/wording"
)

// Verdict is what the rules say about a recorded change. The zero value has nothing against it.
type Verdict struct {
	// Size is the size of the whole change.
	Size Size
	// Flags are reasons why a person must agree, even if approval is automatic; one line each.
	Flags []string
	// Refused are reasons why no approval admits the change, one line each: the file, then what is wrong.
	Refused []string
	// TooLarge is true if one of them is the size of a file.
	TooLarge bool
}

// The modes of git that matter here: six octal digits, as its raw diff prints them. modeGitlink is an embedded
// repository.
const (
	modeSymlink = "120000"
	modeGitlink = "160000"
	// modeExecutable is a file that starts by its own name.
	modeExecutable = "100755"
	// ModeNone is the mode of a file that doesn't exist, before or after the change.
	ModeNone = "000000"
	// maxFileBytes is the largest file that a change may add, 50 MiB. Everyone who clones pays for a larger one
	// for as long as the repository exists.
	maxFileBytes = 50 << 20
)

// Size is how much a change changes.
type Size struct {
	// FilesChanged counts a renamed file twice. The lines leave binary files out.
	FilesChanged, LinesAdded, LinesDeleted int
	// TooLarge is true if the lines added and deleted are more than the run's limit: a person must agree.
	TooLarge bool
}

// Inspect applies the rules on paths, modes and sizes. maxLines limits the lines added and deleted together; 0 is
// no limit.
//
// It refuses names that a list or a terminal can't show, paths that belong to git or Signalbox, and files over
// 50 MiB. A person must agree to symbolic links, embedded repositories, names that deceive, more lines than
// maxLines, and files that make programs run on other people's machines or on a forge: nothing of that is
// merged because a stranger's text asked for it. Deleting a file with a name that can't be shown is allowed.
func Inspect(files []FileChange, maxLines int) Verdict {
	v := Verdict{Size: Size{FilesChanged: len(files)}}
	for _, f := range files {
		v.Size.LinesAdded += max(f.Added, 0)
		v.Size.LinesDeleted += max(f.Deleted, 0)
		name, deleted := f.name(), f.NewMode == ModeNone // a renamed file is one deleted and one added
		// A list of names, or a terminal, can't hold such a name as it is.
		odd := !utf8.ValidString(f.Path) || strings.ContainsFunc(f.Path, unicode.IsControl)
		switch {
		case deleted && odd: // may go, by whatever name
		case odd:
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
		case !deleted && wording.Deceptive(f.Path):
			v.Flags = append(v.Flags, "it adds a file whose name shows something else than it is: "+name)
		case sensitivePath(f.Path):
			v.Flags = append(v.Flags, "it changes "+name)
		}
	}
	if n := v.Size.LinesAdded + v.Size.LinesDeleted; maxLines > 0 && n > maxLines {
		v.Size.TooLarge = true
		v.Flags = append(v.Flags, fmt.Sprintf("it changes %d lines, more than %d", n, maxLines))
	}
	return v
}

// reservedPath reports whether git or Signalbox treats the path as its own on some file system: git~1 is .git on
// Windows.
func reservedPath(p string) bool {
	parts := strings.FieldsFunc(p, func(r rune) bool { return r == '/' || r == '\\' })
	for i, part := range parts {
		if parts[i] = foldedName(part); parts[i] == ".git" || parts[i] == "git~1" || part == ".." {
			return true
		}
	}
	if len(parts) == 0 {
		return false
	}
	switch parts[0] {
	case ".signalbox", ".worktrees", "environments.json", "state.json", "state.json.bak":
		return true
	case "runs":
		return parts[len(parts)-1] == "stage.json" // runs/<request>/<run>/…; a project may have a folder "runs" of its own
	}
	return false
}

// FileChange is one file of a recorded change, by git's raw diff. A renamed file is two: one deleted, one added.
type FileChange struct {
	// Path is relative to the repository's root, with slashes, as git stores it: any bytes but NUL.
	Path string
	// OldMode and NewMode are git's six octal digits; ModeNone before the file is added or after it is deleted.
	OldMode, NewMode string
	// Added and Deleted count lines; -1 for a binary file.
	Added, Deleted int
	// LinkedAs are the paths by which symbolic links of the base commit lead to the file. A test may name it by one.
	LinkedAs []string `json:",omitempty"`
	// Shown is the path with secrets masked; empty if Path has none.
	Shown string
	// Size is the number of bytes after the change; 0 if deleted.
	Size int64
}

// name returns the path as a terminal may show it: without secrets and control characters.
func (f FileChange) name() string { return wording.Shown(cmp.Or(f.Shown, f.Path)) }
