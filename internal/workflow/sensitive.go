package workflow

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// sensitiveNames and sensitiveFolders are the table by name; sensitivePatterns and sensitivePaths are what has to be tried one by one.
var sensitiveNames, sensitiveFolders, sensitivePatterns, sensitivePaths = indexed(sensitives)

func indexed(table []sensitive) (names, folders map[string]bool, patterns, paths []string) {
	names, folders = map[string]bool{}, map[string]bool{}
	for _, tool := range table {
		for _, name := range tool.names {
			if strings.Contains(name, "*") {
				patterns = append(patterns, name)
			} else {
				names[name] = true
			}
		}
		for _, folder := range tool.folders {
			folders[folder] = true
		}
		paths = append(paths, tool.paths...)
	}
	return names, folders, patterns, paths
}

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
	base := parts[len(parts)-1]
	for i, part := range parts[:len(parts)-1] {
		if sensitiveFolders[part] || sensitiveFolders[strings.Join(parts[max(0, i-1):i+1], "/")] {
			return true
		}
	}
	if sensitiveNames[base] || sensitiveFolders[base] || slices.ContainsFunc(parts, shortName) {
		return true
	}
	if slices.ContainsFunc(sensitivePatterns, func(pattern string) bool { ok, _ := path.Match(pattern, base); return ok }) {
		return true
	}
	whole := strings.Join(parts, "/")
	return slices.ContainsFunc(sensitivePaths, func(s string) bool {
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
