package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Kind is how a place is shown inside, as the option of bwrap that does it.
type Kind string

const (
	ReadOnly  Kind = "--ro-bind"
	ReadWrite Kind = "--bind"
	Empty     Kind = "--tmpfs"
	link      Kind = "--symlink"
)

// Mounts is what a command sees of the file system, by path inside. What is not here is not there.
type Mounts map[string]Mount

// Mount is how one place is shown, and from where.
type Mount struct {
	Kind   Kind
	Source string
	sealed bool // an empty place that stays empty: made read-only once what lies in it is mounted
}

// systemFolders hold the machine's programs and libraries. Where one is a symbolic link
// (/bin → usr/bin) it is the same link inside.
var systemFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt"}

// Base is what every command sees, whatever it is for.
func (s *Sandbox) Base() (Mounts, error) {
	m := Mounts{
		"/run":         {Kind: Empty},
		"/tmp":         {Kind: Empty},
		"/var/tmp":     {Kind: Empty},
		s.config.Root:  {Kind: Empty, sealed: true},
		s.config.State: {Kind: Empty, sealed: true},
	}
	for _, dir := range systemFolders {
		if err := m.system(dir); err != nil {
			return nil, err
		}
	}
	for _, dir := range filepath.SplitList(s.config.Path) {
		for _, place := range append(beside(dir), dir) {
			if s.showsProgram(place) {
				m.Show(ReadOnly, place)
			}
		}
	}
	m.nameServers()
	m.hideSecrets(s.secrets())
	s.Follow(m)
	return m, nil
}

func (m Mounts) system(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case os.IsNotExist(err):
		return nil
	case err != nil:
		return fmt.Errorf("look at %s: %w", dir, err)
	case info.Mode()&os.ModeSymlink == 0:
		m.Show(ReadOnly, dir)
		return nil
	}
	target, err := os.Readlink(dir)
	if err != nil {
		return fmt.Errorf("look at %s: %w", dir, err)
	}
	m[dir] = Mount{Kind: link, Source: target}
	return nil
}

// beside is what the programs of a folder of PATH need that lies beside it: the libraries of a
// program in .nvm/versions/node/v22/bin, what a version manager's .pyenv/shims choose from. The
// folder above is not shown as a whole, because what lies in .cargo or .local is not all programs.
func beside(dir string) (places []string) {
	if base := filepath.Base(dir); base != "bin" && base != "shims" {
		return nil
	}
	for _, name := range []string{"lib", "lib64", "libexec", "versions", "version", "installs", "plugins"} {
		places = append(places, filepath.Join(filepath.Dir(filepath.Clean(dir)), name))
	}
	return places
}

// showsProgram says whether a folder of PATH, or what lies beside it, is mounted: what is there,
// is no part of the system or of the project, and does not contain the project.
func (s *Sandbox) showsProgram(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	dir = filepath.Clean(dir)
	for _, own := range []string{s.config.Root, s.config.State} {
		if within(dir, own) || within(own, dir) {
			return false
		}
	}
	inSystem := slices.ContainsFunc(systemFolders, func(s string) bool { return within(dir, s) })
	_, err := os.Stat(dir)
	return !inSystem && err == nil
}

// nameServers shows what /etc/resolv.conf points at, often a file below /run.
func (m Mounts) nameServers() {
	target, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if err == nil && !within(target, "/etc") {
		m.Show(ReadOnly, target)
	}
}

// Show makes a host path visible at the same path inside.
func (m Mounts) Show(k Kind, path string) { m[path] = Mount{Kind: k, Source: path} }

// Request shows host paths that the configuration or a command asked for. One that is missing
// is an error that names it, because bwrap's own would not say who wanted it.
func (s *Sandbox) Request(m Mounts, k Kind, paths []string) error {
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("show %q in the sandbox: want an absolute path", path)
		}
		path = filepath.Clean(path)
		if within(s.config.Root, path) || within(s.config.State, path) {
			return fmt.Errorf("show %q in the sandbox: it contains the project", path)
		}
		if within(path, Workspace) || within(path, Home) {
			return fmt.Errorf("show %q in the sandbox: the environment itself is shown there", path)
		}
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("show %q in the sandbox: %w", path, err)
		}
		if m[path].Kind != ReadWrite {
			m.Show(k, path)
		}
	}
	return nil
}

// prune drops what lies in a folder that commands may write, but for /tmp, which is new for each
// command. Nothing is ever mounted there: a command could leave a symbolic link on the way, and
// the next sandbox would be built through it. Of what was asked for nothing is lost: it lies in
// a folder that is shown as it is.
func (m Mounts) prune() {
	for path := range m {
		for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
			if dir != "/tmp" && m[dir].Kind == ReadWrite {
				delete(m, path)
			}
		}
	}
}

// join drops what the folder around it shows anyway: each mount costs every sandbox a third of a millisecond.
func (m Mounts) join() {
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

// arguments are bwrap's options, from the root down, so that the nearest mount decides.
func (m Mounts) arguments() (args []string) {
	var seals []string
	for _, path := range m.sorted() {
		switch at := m[path]; at.Kind {
		case Empty:
			args = append(args, "--perms", "1777", string(Empty), path)
			if at.sealed {
				seals = append(seals, "--remount-ro", path)
			}
		default:
			args = append(args, string(at.Kind), at.Source, path)
		}
	}
	return append(args, seals...)
}

// sorted puts every folder before what lies in it.
func (m Mounts) sorted() []string {
	paths := make([]string, 0, len(m))
	for path := range m {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b string) int {
		return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
	})
	return paths
}

// within reports whether path is dir or below it. Both are clean and absolute.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
