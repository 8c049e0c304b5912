package policy

import (
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// sensitiveIndex is the table by name, and what has to be tried one by one.
type sensitiveIndex struct {
	names, folders  map[string]bool
	patterns, paths []string
}

// indexed is made when it is first asked: most commands ask nothing.
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

// shortName reports whether Windows may call a longer name so: GITHUB~1 may be .github there.
func shortName(part string) bool {
	stem, _, _ := strings.Cut(part, ".")
	before, number, found := strings.Cut(stem, "~")
	return found && len(stem) <= 8 && before != "" && number != "" && strings.Trim(number, "0123456789") == ""
}

// sensitivePath reports whether p, on the most forgiving file systems, is a file of the table.
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

// foldedName is the name that a part of a path has on the most forgiving file
// systems: NTFS drops dots and spaces at the end and a stream after a colon,
// HFS+ drops characters that cannot be seen, and both know no capitals, in Unicode's sense.
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
