package detect

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"signalbox/internal/lazy"
	"signalbox/internal/redact"
)

// Limits for reading untrusted files.
const (
	maxFiles        = 200
	maxDependencies = 5000
	maxNotes        = 50
	maxContent      = 64 << 10  // bytes of a file in the result
	maxParsed       = 256 << 10 // bytes of a file
	maxDigested     = 64 << 20  // bytes of a file
	maxRead         = 512 << 20 // bytes of all files
	maxName         = 200
	maxDepth        = 10 // folders above a file
	maxText         = 200
)

// survey is the work of one Detect: it finds files, then reads one after the other.
type survey struct {
	files  Files
	names  []string // all of them, sorted
	result Result

	found []candidate // to be read, from next on
	next  int
	known map[string]bool
	read  int64 // bytes so far

	projects map[string]*module // by folder; "." is the root
	wishes   []wish
	asking   map[string]bool     // requirements files that name a package
	ignored  map[string][]string // lines of .gitignore files, by folder
	formats  map[string]format
}

// candidate is a file to read.
type candidate struct {
	name string
	format
}

// module is a folder with manifests, and the facts that decide its setup.
type module struct {
	dir          string
	dependencies map[string]int    // by environment
	manifests    map[string]string // paths of the manifests that were understood, by kind

	// Go
	vendored bool
	indirect int // requirements of requirements
	// Node
	packageManager, managerVersion string
	workspaces                     bool
	// Python: pip can install the folder; it has a [project] table; Poetry manages it.
	installable, project, poetry bool
	extras                       []string
}

func newSurvey(files Files, names []string) *survey {
	s := &survey{files: files, names: slices.Sorted(slices.Values(names)), known: map[string]bool{}, projects: map[string]*module{},
		ignored: map[string][]string{}, asking: map[string]bool{}, formats: baseNames()}
	s.result.Dependencies = []Dependency{}
	for _, name := range s.names {
		f, known := formatOf(name, s.formats)
		switch {
		case !known || f.root && strings.Contains(name, "/") || passedOver(name):
		case !plain(name):
			s.note("left out %q: its path has characters that are unsafe in a command", short(name))
		default:
			s.found = append(s.found, candidate{name, f})
			s.known[name] = true
		}
	}
	slices.SortStableFunc(s.found, func(a, b candidate) int { return depth(a.name) - depth(b.name) })
	if over := len(s.found) - maxFiles; over > 0 {
		s.note("left out %d files: only the first %d are read", over, maxFiles)
		s.found = s.found[:maxFiles]
	}
	return s
}

// passedOver reports whether a folder on the way to the file is left out.
func passedOver(name string) bool {
	dirs := strings.Split(path.Dir(name), "/")
	return len(dirs) > maxDepth || dirs[0] != "." && slices.ContainsFunc(dirs, func(dir string) bool {
		return passed[dir] || strings.HasPrefix(dir, ".") && dir != ".devcontainer" && dir != ".github"
	})
}

// depth returns how many folders are above a file.
func depth(name string) int { return strings.Count(name, "/") }

// plainName matches paths that are safe in a command once they are quoted.
var plainName = lazy.Pattern(`^(?:[\pL\pN_.@+][\pL\pN_.@+ -]*/)*[\pL\pN_.@+][\pL\pN_.@+ -]*$`)

func plain(name string) bool {
	return len(name) <= maxName && plainName().MatchString(name) && fs.ValidPath(name)
}

func (s *survey) has(name string) bool {
	_, found := slices.BinarySearch(s.names, name)
	return found
}

// module returns the folder whose setup a file belongs to.
func (s *survey) module(name string) *module {
	dir := path.Dir(name)
	if path.Base(dir) == "requirements" {
		dir = path.Dir(dir)
	}
	m := s.projects[dir]
	if m == nil {
		m = &module{dir: dir, dependencies: map[string]int{}, manifests: map[string]string{}}
		s.projects[dir] = m
	}
	return m
}

func (s *survey) note(format string, args ...any) {
	switch len(s.result.Notes) {
	case maxNotes:
	case maxNotes - 1:
		s.result.Notes = append(s.result.Notes, "and more notes")
	default:
		s.result.Notes = append(s.result.Notes, fmt.Sprintf(format, args...))
	}
}

// depend records one dependency of a manifest.
func (s *survey) depend(f *File, ecosystem, name, constraint string) {
	if name == "" {
		return
	}
	s.module(f.Path).dependencies[f.Environment]++
	switch {
	case len(s.result.Dependencies) < maxDependencies:
		s.result.Dependencies = append(s.result.Dependencies, Dependency{ecosystem, short(name), short(constraint), f.Path})
	case f.Problem == "":
		f.Problem = fmt.Sprintf("more than %d dependencies: the rest is left out", maxDependencies)
	}
}

// short turns untrusted text into one short line without control characters.
func short(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) {
			return ' '
		}
		if unicode.IsControl(c) || c == utf8.RuneError {
			return -1
		}
		return c
	}, redact.Clean(text[:min(len(text), 4*maxText)]))
	if runes := []rune(text); len(runes) > maxText {
		text = string(runes[:maxText]) + "…"
	}
	return strings.TrimSpace(text)
}
