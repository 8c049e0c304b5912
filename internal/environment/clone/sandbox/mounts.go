package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Kind says how a place is shown inside: it is bwrap's option for that.
type Kind string

const (
	ReadOnly  Kind = "--ro-bind"
	ReadWrite Kind = "--bind"
	Empty     Kind = "--tmpfs"
	link      Kind = "--symlink"
)

// Mounts is the part of the file system that a command sees, by path inside. All else is absent.
type Mounts map[string]Mount

// Mount says how one place is shown, and from where.
type Mount struct {
	Kind   Kind
	Source string
	sealed bool // an empty place that stays empty: it becomes read-only once the mounts in it are made
}

// systemFolders hold the machine's programs and libraries. Where one is a symbolic link
// (/bin → usr/bin) it is the same link inside.
var systemFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt"}

// Base returns the mounts that every command has.
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
		for _, place := range s.programs(dir) {
			m.Show(ReadOnly, place)
		}
	}
	// /etc/resolv.conf often points at a file below /run.
	if target, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil && !within(target, "/etc") {
		m.Show(ReadOnly, target)
	}
	for path, at := range s.secrets() {
		// A secret that was deleted since would be made as a mount point, which a read-only folder refuses.
		if _, err := os.Lstat(path); err == nil {
			m[path] = at
		}
	}
	s.Follow(m)
	return m, nil
}

// system shows a folder of the system, or makes the same link.
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

// programs returns the places to show for a folder of PATH: the folder, and the places beside it that its programs need (the
// libraries of a program in .nvm/versions/node/v22/bin, the versions that .pyenv/shims choose from). The folder above is not
// shown as a whole, because .cargo or .local hold more than programs. A place is shown if it exists, is no part of the system
// or the project, and doesn't contain the project.
func (s *Sandbox) programs(dir string) (places []string) {
	if !filepath.IsAbs(dir) {
		return nil
	}
	dir = filepath.Clean(dir)
	candidates := []string{dir}
	if base := filepath.Base(dir); base == "bin" || base == "shims" {
		for _, name := range []string{"lib", "lib64", "libexec", "versions", "version", "installs", "plugins"} {
			candidates = append(candidates, filepath.Join(filepath.Dir(dir), name))
		}
	}
	for _, place := range candidates {
		inSystem := slices.ContainsFunc(systemFolders, func(folder string) bool { return within(place, folder) })
		inProject := slices.ContainsFunc([]string{s.config.Root, s.config.State}, func(own string) bool {
			return within(place, own) || within(own, place)
		})
		if _, err := os.Stat(place); err == nil && !inSystem && !inProject {
			places = append(places, place)
		}
	}
	return places
}

// Show makes a host path visible at the same path inside.
func (m Mounts) Show(k Kind, path string) { m[path] = Mount{Kind: k, Source: path} }

// Request shows host paths that the configuration or a command asked for. A missing one is an error that names it, because
// bwrap's own error wouldn't say who wanted it.
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

// prune drops mounts in a folder that commands may write, except in /tmp, which is new for each command. Nothing is ever
// mounted there: a command could leave a symbolic link on the way, and the next sandbox would be built through it. Nothing
// requested is lost, because its folder is shown as it is.
func (m Mounts) prune() {
	for path := range m {
		for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
			if dir != "/tmp" && m[dir].Kind == ReadWrite {
				delete(m, path)
			}
		}
	}
}

// arguments returns bwrap's options, from the root down, so that the nearest mount decides.
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

// sorted returns the paths, every folder before the paths in it.
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
