// Package owners reads CODEOWNERS: which people a file's change concerns. It knows how each kind of forge understands a pattern, and reads no file. The
// text comes from a repository: it is bounded, and what can't be understood is left out.
package owners

import (
	"regexp"
	"slices"
	"strings"

	"signalbox/internal/lazy"
)

// Kind is how patterns are understood.
type Kind string

const (
	// GitHub takes the last rule that matches. A pattern is like one of .gitignore, without ranges and negation.
	GitHub Kind = "github"
	// GitLab takes the last rule of each section.
	GitLab Kind = "gitlab"
	// Gitea takes every rule that matches. A pattern is a regular expression of the whole path, and ! negates it.
	Gitea Kind = "gitea"
)

// Places are where a forge looks for the file. The first that is there counts.
func Places(kind Kind) []string {
	switch kind {
	case GitLab:
		return []string{"CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"}
	case Gitea:
		return []string{"CODEOWNERS", "docs/CODEOWNERS", ".gitea/CODEOWNERS"}
	}
	return []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}
}

// Limits of what is read.
const (
	// MaxFile is how large a file may be. GitHub reads no larger one than 3 MB.
	MaxFile    = 256 << 10
	maxRules   = 2_000
	maxPattern = 300
	maxOwners  = 20
	maxOwner   = 100
)

// Rules are those of a file.
type Rules struct {
	kind  Kind
	rules []rule
}

type rule struct {
	section string
	matches *regexp.Regexp
	not     bool
	owners  []string
}

var (
	owner   = lazy.Expression{Text: `^@?[\w.%+-]+(?:[@/][\w./+-]+)?$`}
	section = lazy.Expression{Text: `^\^?\[([^\]]{1,100})\](?:\[\d{1,3}\])?(.*)$`}
)

// Parse reads a file. Lines that are no rules are left out.
func Parse(kind Kind, text string) Rules {
	r := Rules{kind: kind}
	in, defaults := "", []string(nil)
	for line := range strings.Lines(text[:min(len(text), MaxFile)]) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || len(r.rules) >= maxRules {
			continue
		}
		if found := section.Regexp().FindStringSubmatch(line); kind == GitLab && found != nil {
			in, defaults = strings.ToLower(found[1]), owning(strings.Fields(found[2]))
			continue
		}
		fields := split(line)
		one := rule{section: in, owners: owning(fields[1:])}
		if len(fields) == 1 && kind == GitLab {
			one.owners = defaults
		}
		if pattern := fields[0]; len(pattern) <= maxPattern {
			if kind == Gitea {
				pattern, one.not = strings.CutPrefix(pattern, "!")
				one.matches, _ = regexp.Compile("^(?:" + pattern + ")$")
			} else if !strings.HasPrefix(pattern, "!") {
				one.matches, _ = regexp.Compile(glob(pattern, kind))
			}
		}
		if one.matches != nil {
			r.rules = append(r.rules, one)
		}
	}
	return r
}

// split separates a line's words. A backslash keeps a space, or a #, in a pattern; a # of its own begins a comment.
func split(line string) (words []string) {
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && i+1 < len(line) && strings.ContainsRune(" #", rune(line[i+1])):
			i++
			word.WriteByte(line[i])
		case c == ' ' || c == '\t':
			end()
		case c == '#' && word.Len() == 0 && len(words) > 0:
			return words
		default:
			word.WriteByte(c)
		}
	}
	end()
	return words
}

// owning returns the words that name people or teams, without what marks them.
func owning(words []string) (names []string) {
	for _, w := range words {
		if strings.HasPrefix(w, "#") {
			break
		}
		if owner.Regexp().MatchString(w) && len(w) <= maxOwner && len(names) < maxOwners {
			names = append(names, strings.TrimPrefix(w, "@"))
		}
	}
	return names
}

// glob turns a pattern into a regular expression.
func glob(pattern string, kind Kind) string {
	anchored := strings.HasPrefix(pattern, "/") || kind == GitHub && strings.Contains(strings.TrimSuffix(pattern, "/"), "/")
	folder := strings.HasSuffix(pattern, "/")
	pattern = strings.Trim(pattern, "/")
	var text strings.Builder
	text.WriteString("^")
	if !anchored {
		text.WriteString("(?:.*/)?")
	}
	for len(pattern) > 0 {
		switch {
		case strings.HasPrefix(pattern, "**/"):
			text.WriteString("(?:.*/)?")
			pattern = pattern[3:]
		case strings.HasPrefix(pattern, "**"):
			text.WriteString(".*")
			pattern = pattern[2:]
		case pattern[0] == '*':
			text.WriteString("[^/]*")
			pattern = pattern[1:]
			if pattern == "" && !folder { // docs/* is about the files in docs alone
				return text.String() + "$"
			}
		case pattern[0] == '?':
			text.WriteString("[^/]")
			pattern = pattern[1:]
		default:
			text.WriteString(regexp.QuoteMeta(pattern[:1]))
			pattern = pattern[1:]
		}
	}
	if folder {
		return text.String() + "/.*$"
	}
	return text.String() + "(?:/.*)?$"
}

// Of returns the owners of paths, sorted, at most 20.
func (r Rules) Of(paths []string) (names []string) {
	for _, path := range paths {
		last := map[string][]string{}
		for i := range r.rules {
			one := &r.rules[i]
			if one.matches.MatchString(path) == one.not {
				continue
			}
			if r.kind == Gitea {
				names = append(names, one.owners...)
			} else {
				last[one.section] = one.owners
			}
		}
		for _, owners := range last {
			names = append(names, owners...)
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	return names[:min(len(names), maxOwners)]
}
