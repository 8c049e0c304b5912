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
	// ModeNone is the mode of a file that is not there.
	ModeNone = "000000"
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
	v := Verdict{Size: Size{FilesChanged: len(files)}}
	for _, f := range files {
		v.Size.LinesAdded += max(f.Added, 0)
		v.Size.LinesDeleted += max(f.Deleted, 0)
		name, deleted := f.name(), f.NewMode == ModeNone // a renamed file is one deleted and one added
		// A list of names, or a terminal, cannot hold such a name as it is.
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
		case sensitivePath(f.Path) && !f.OwnRequest:
			v.Flags = append(v.Flags, "it changes "+name)
		}
	}
	if n := v.Size.LinesAdded + v.Size.LinesDeleted; maxLines > 0 && n > maxLines {
		v.Size.TooLarge = true
		v.Flags = append(v.Flags, fmt.Sprintf("it changes %d lines, more than %d", n, maxLines))
	}
	return v
}

// reservedPath: names that git or Signalbox treats as its own on some file system.
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

// FileChange is one file of a recorded change, as git's raw diff tells it.
type FileChange struct {
	// Path is relative to the repository's root, with slashes, as git stores it: any bytes but NUL.
	Path string
	// OldMode and NewMode are git's six octal digits; "000000" where the file is not.
	OldMode, NewMode string
	// Added and Deleted are lines; -1 for a binary file.
	Added, Deleted int
	// LinkedAs are the paths by which symbolic links of the base commit lead to the file.
	LinkedAs []string `json:",omitempty"`
	// Shown is the path without secrets; empty where it has none.
	Shown string
	// OwnRequest: the file is the request that the run is of.
	OwnRequest bool
	// Size is bytes after the change; 0 when deleted.
	Size int64
}

// name is the path as it may be shown.
func (f FileChange) name() string { return wording.Shown(cmp.Or(f.Shown, f.Path)) }
