package agent

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Installation is a program as it lies on this machine.
type Installation struct {
	// Args start it: its path through all links, behind its interpreter's where that is no part of the system.
	Args []string
	// Reads are what a sandbox must show for it to run: never a whole HOME, and nothing of what every
	// sandbox has of its own, such as a system's interpreter.
	Reads []string
}

// Installation finds the program and what belongs to it.
func (p Program) Installation() (Installation, error) {
	found, err := p.Find()
	if err != nil {
		return Installation{}, err
	}
	path, err := filepath.EvalSymlinks(found)
	if err != nil {
		return Installation{}, fmt.Errorf("follow links of program %s: %w", found, err)
	}
	i := Installation{Args: []string{path}, Reads: belongings(path)}
	interpreter, err := interpreterOf(path)
	if err != nil || len(interpreter) == 0 {
		return i, err
	}
	return i.behind(p, interpreter)
}

// Within reports whether the program, or the interpreter that it is a script of, lies in a folder, with all links
// followed. One that is not found lies nowhere.
func (p Program) Within(dir string) bool {
	found, err := p.Find()
	if err != nil {
		return false
	}
	if resolvedWithin(found, dir) {
		return true
	}
	interpreter, err := interpreterOf(found)
	if err != nil || len(interpreter) == 0 {
		return err != nil // it cannot be read, so nothing is known of it
	}
	by, err := Program{Agent: p.Agent, Args: interpreter, Env: p.Env}.Find()
	return err == nil && resolvedWithin(by, dir)
}

func resolvedWithin(path, dir string) bool {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	return within(path, dir)
}

// Located is p with its program where it lies on this machine. One that is not here stays as it is
// named: it may be in a container's image.
func (p Program) Located() Program {
	if i, err := p.Installation(); err == nil {
		p.Args = slices.Concat(i.Args, p.Args[1:])
		p.Reads = slices.Concat(p.Reads, i.Reads)
	}
	return p
}

// behind puts a script behind its interpreter. One of the system is left to the script's own first
// line: a container has its own.
func (i Installation) behind(p Program, interpreter []string) (Installation, error) {
	found, err := Program{Agent: p.Agent, Args: interpreter, Env: p.Env}.Find()
	if err != nil {
		return Installation{}, fmt.Errorf("find interpreter of program %s: %w", i.Args[0], err)
	}
	if ofSystem(found) {
		return i, nil
	}
	path, err := filepath.EvalSymlinks(found)
	if err != nil {
		return Installation{}, fmt.Errorf("follow links of interpreter %s: %w", found, err)
	}
	i.Args = slices.Concat([]string{path}, interpreter[1:], i.Args)
	i.Reads = slices.Concat(i.Reads, belongings(path))
	return i, nil
}

// belongings are the files that a program runs with, itself among them.
func belongings(path string) []string {
	parts := strings.Split(path, "/")
	if at := slices.Index(parts, "node_modules"); at > 0 {
		return []string{strings.Join(parts[:at+1], "/")}
	}
	dir := filepath.Dir(path)
	switch lib := filepath.Join(filepath.Dir(dir), "lib"); {
	case within(path, "/nix/store"):
		return []string{"/nix/store"} // of public packages, which name each other
	case ofSystem(path):
		return []string{path}
	case filepath.Base(dir) == "bin" && isDir(lib):
		return []string{path, lib}
	case ownFolder(dir):
		return []string{dir}
	}
	return []string{path}
}

// ownFolder reports whether a folder is one program's: none that many share, none that is a whole
// HOME, and none directly in one, which may be its documents or its keys.
func ownFolder(dir string) bool {
	if slices.Contains([]string{"bin", "sbin", "lib", "share"}, filepath.Base(dir)) {
		return false
	}
	home, _ := os.UserHomeDir() // without one, those below are all
	for _, pattern := range []string{home, home + "/*", "/", "/*", "/home/*", "/home/*/*", "/root/*"} {
		if shared, err := filepath.Match(pattern, dir); err != nil || shared {
			return false
		}
	}
	return !within(home, dir)
}

// ofSystem reports whether path is in the folders that every sandbox has, its own or the machine's.
func ofSystem(path string) bool {
	return slices.ContainsFunc([]string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt"},
		func(dir string) bool { return within(path, dir) })
}

// within reports whether path is dir or below it. Both are clean and absolute.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// interpreterOf is the interpreter that a script's first line names, with its arguments; nil of
// what is no script. A kernel reads no more than 256 bytes of it.
func interpreterOf(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("look for interpreter: %w", err)
	}
	defer func() { _ = file.Close() }()
	first, err := bufio.NewReader(io.LimitReader(file, 256)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("look for interpreter in %s: %w", path, err)
	}
	line, isScript := strings.CutPrefix(first, "#!")
	words := strings.Fields(line)
	if !isScript || len(words) == 0 {
		return nil, nil
	}
	for len(words) > 1 && (filepath.Base(words[0]) == "env" || words[0] == "-S") {
		words = words[1:]
	}
	return words, nil
}
