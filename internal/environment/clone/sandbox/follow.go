package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Follow moves each host path to where its name leads inside: /bin/sh to /usr/bin/dash where /bin is a
// link to usr/bin. Nothing can be mounted on a link, or through one whose end is not mounted yet.
func (s *Sandbox) Follow(m Mounts) {
	m.prune()
	for _, path := range m.sorted() {
		at := m[path]
		if at.Source != path || at.Kind != ReadOnly && at.Kind != ReadWrite {
			continue
		}
		to := m.leads(path)
		covers := func(own string) bool { return within(own, to) } // the project or the environment
		if to == path || slices.ContainsFunc([]string{s.config.Root, s.config.State, Workspace, Home}, covers) {
			continue
		}
		delete(m, path)
		if _, there := m[to]; !there || at.Kind == ReadWrite {
			m[to] = at
		}
	}
	m.prune()
	// Drop what the folder around it shows anyway: each mount costs every sandbox a third of a millisecond.
	for _, path := range m.sorted() {
		dir := filepath.Dir(path)
		for _, there := m[dir]; !there && dir != "/"; _, there = m[dir] {
			dir = filepath.Dir(dir)
		}
		if m[path] == (Mount{Kind: ReadOnly, Source: path}) && m[dir] == (Mount{Kind: ReadOnly, Source: dir}) && m.leads(path) == path {
			delete(m, path)
		}
	}
}

// mostLinks is how many links the kernel follows in one path.
const mostLinks = 40

// leads returns the path inside to which path leads, as if nothing were mounted there.
func (m Mounts) leads(path string) string {
	at, rest, links := "/", strings.Split(path[1:], "/"), 0
	for len(rest) > 0 {
		next := filepath.Join(at, rest[0])
		target := m.target(next, next == path)
		switch rest = rest[1:]; {
		case target == "":
			at = next
			continue
		case links == mostLinks:
			return path
		case filepath.IsAbs(target):
			at = "/"
		}
		links++
		rest = slices.Concat(strings.Split(target, "/"), rest)
	}
	return at
}

// target returns the target of the link at path. It is empty if there is no link, or one that we must not follow: in a folder
// that commands may write, a link may be theirs. If bare is set, a mount at path itself doesn't count.
func (m Mounts) target(path string, bare bool) string {
	if at, there := m[path]; there && !bare {
		if at.Kind == link {
			return at.Source
		}
		return ""
	}
	for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
		if at, there := m[dir]; there {
			target := ""
			if at.Kind == ReadOnly {
				target, _ = os.Readlink(at.Source + strings.TrimPrefix(path, dir))
			}
			return target
		}
	}
	return ""
}
