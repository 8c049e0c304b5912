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
	defer func() { m.prune(); m.join() }()
	for _, path := range m.sorted() {
		at := m[path]
		if at.Source != path || at.Kind != ReadOnly && at.Kind != ReadWrite {
			continue
		}
		to := m.leads(path)
		if to == path || s.covers(to) {
			continue
		}
		delete(m, path)
		if _, there := m[to]; !there || at.Kind == ReadWrite {
			m[to] = at
		}
	}
}

// covers reports whether something mounted at path would lie over the project or the environment.
func (s *Sandbox) covers(path string) bool {
	return slices.ContainsFunc([]string{s.config.Root, s.config.State, Workspace, Home}, func(own string) bool { return within(own, path) })
}

// mostLinks is how many links the kernel follows in one path.
const mostLinks = 40

// leads is the path inside at which whoever opens path arrives, were nothing mounted there.
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

// target is what the link at path points at, empty where there is none, or none that is ours to
// follow: in a folder that commands may write a link may be theirs. Bare leaves out what is mounted
// at path itself.
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
