package workflow

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Verdict is what the rules say of a recorded change.
type Verdict struct {
	DiffStat DiffStat
	// Flags are changes that a person must agree to, even where approval is automatic.
	Flags []string
	// Refused are changes that nobody can wave through.
	Refused []string
}

const (
	modeSymlink = "120000"
	modeGitlink = "160000"
	// maxFileBytes is the largest file that a change may add: beyond it git itself becomes a
	// denial of service for everyone who clones.
	maxFileBytes = 50 << 20
)

// Inspect applies size and path policy to a change. The agent works for a
// stranger's text: what would run on other people's machines, or on the forge,
// is never merged without a person.
func Inspect(files []FileChange, limits Limits) Verdict {
	var v Verdict
	v.DiffStat.FilesChanged = len(files)
	for _, f := range files {
		v.DiffStat.LinesAdded += max(f.Added, 0)
		v.DiffStat.LinesDeleted += max(f.Deleted, 0)
		v.inspect(f)
	}
	if n := v.DiffStat.LinesAdded + v.DiffStat.LinesDeleted; limits.MaxDiffLines > 0 && n > limits.MaxDiffLines {
		v.DiffStat.TooLarge = true
		v.Flags = append(v.Flags, fmt.Sprintf("it changes %d lines, more than %d", n, limits.MaxDiffLines))
	}
	return v
}

func (v *Verdict) inspect(f FileChange) {
	name := printable(f.Path)
	switch {
	case !utf8.ValidString(f.Path) || strings.ContainsFunc(f.Path, isControl):
		v.Refused = append(v.Refused, name+": a file name with control characters or broken UTF-8")
	case reservedPath(f.Path):
		v.Refused = append(v.Refused, name+": belongs to git or to Signalbox")
	case f.Size > maxFileBytes:
		v.Refused = append(v.Refused, fmt.Sprintf("%s: %d MiB, more than %d", name, f.Size>>20, maxFileBytes>>20))
	case f.NewMode == modeSymlink:
		v.Flags = append(v.Flags, "it adds the symbolic link "+name)
	case f.NewMode == modeGitlink || f.OldMode == modeGitlink:
		v.Flags = append(v.Flags, "it changes the embedded repository "+name)
	case strings.EqualFold(path.Base(f.Path), "HEAD"):
		v.Flags = append(v.Flags, "it changes "+name+", by which git takes a folder for a repository")
	case sensitivePath(f.Path):
		v.Flags = append(v.Flags, "it changes "+name)
	}
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

// foldedName is the name that a part of a path has on the most forgiving file
// systems: NTFS drops dots and spaces at the end and a stream after a colon,
// HFS+ drops characters that cannot be seen.
func foldedName(part string) string {
	part, _, _ = strings.Cut(part, ":")
	part = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, part)
	return strings.TrimRight(part, ". ")
}

// looksLikeRun: runs/<request>/<run>/…; a project may have a folder "runs" of its own.
func looksLikeRun(p string) bool { return strings.EqualFold(path.Base(p), "stage.json") }

// sensitivePath: files that make programs run elsewhere, or that instruct agents.
func sensitivePath(p string) bool {
	lower := strings.ToLower(p)
	switch path.Base(lower) {
	case ".gitattributes", ".gitmodules", ".gitlab-ci.yml", "agents.md", "claude.md", "gemini.md", ".mcp.json",
		".envrc", "jenkinsfile", ".travis.yml", "codeowners", ".worktreeinclude":
		return true
	}
	for _, dir := range []string{".github/", ".gitlab/", ".circleci/", ".claude/", ".codex/", ".opencode/", ".gemini/",
		".cursor/", ".vscode/", ".devcontainer/", ".husky/", ".ci/"} {
		if strings.HasPrefix(lower, dir) || strings.Contains(lower, "/"+dir) {
			return true
		}
	}
	return false
}

func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r <= 0x9f }

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
