package policy

import (
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// sensitiveIndex is the table of sensitive files, prepared for look-ups.
type sensitiveIndex struct {
	// names and folders are looked up; patterns and paths are tried one by one.
	names, folders  map[string]bool
	patterns, paths []string
}

// indexed builds the index on first use, because most commands inspect no change.
var indexed = sync.OnceValue(func() sensitiveIndex {
	index := sensitiveIndex{names: map[string]bool{}, folders: map[string]bool{}}
	for _, tool := range sensitives {
		for _, name := range tool.names {
			if strings.Contains(name, "*") {
				index.patterns = append(index.patterns, name)
			} else {
				index.names[name] = true
			}
		}
		for _, folder := range tool.folders {
			index.folders[folder] = true
		}
		index.paths = append(index.paths, tool.paths...)
	}
	return index
})

// shortName reports whether a name may be the short form that Windows gives to a longer one: GITHUB~1 may be .github
// there.
func shortName(part string) bool {
	stem, _, _ := strings.Cut(part, ".")
	before, number, found := strings.Cut(stem, "~")
	return found && len(stem) <= 8 && before != "" && number != "" && strings.Trim(number, "0123456789") == ""
}

// sensitivePath reports whether, on some file system, p is a file of the table. A folder's name without a file below it counts
// too, because a link may take its place.
func sensitivePath(p string) bool {
	parts := strings.FieldsFunc(p, func(r rune) bool { return r == '/' || r == '\\' })
	for i, part := range parts {
		parts[i] = foldedName(part)
	}
	if len(parts) == 0 {
		return false
	}
	index, base := indexed(), parts[len(parts)-1]
	for i, part := range parts[:len(parts)-1] {
		if index.folders[part] || index.folders[strings.Join(parts[max(0, i-1):i+1], "/")] {
			return true
		}
	}
	if index.names[base] || index.folders[base] || slices.ContainsFunc(parts, shortName) {
		return true
	}
	if slices.ContainsFunc(index.patterns, func(pattern string) bool { ok, _ := path.Match(pattern, base); return ok }) {
		return true
	}
	whole := strings.Join(parts, "/")
	return slices.ContainsFunc(index.paths, func(s string) bool {
		return whole == strings.TrimSuffix(s, "/") || strings.HasSuffix(s, "/") && strings.HasPrefix(whole, s)
	})
}

// foldedName returns the one spelling of a part of a path that stands for all those that some file system treats
// as the same. NTFS drops dots and spaces at the end and a stream after a colon, HFS+ drops invisible characters,
// and neither distinguishes capital letters, by Unicode's rules.
func foldedName(part string) string {
	part, _, _ = strings.Cut(part, ":")
	part = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, part)
	return strings.TrimRight(part, ". ")
}
