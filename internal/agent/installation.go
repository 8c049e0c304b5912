package agent

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Installation is a program as it is installed on this machine: what a sandbox on the same machine must show of it, and how it is started there.
type Installation struct {
	// Args start the program: its path with all links resolved, after its interpreter's path unless that is part of the system.
	Args []string
	// Reads are the paths that a sandbox must show so that the program runs. They never include a whole HOME, nor what every sandbox has anyway,
	// such as the system's interpreters.
	Reads []string
}

// Installation finds the program and the files that belong to it. A script's interpreter belongs to it too: agents written in JavaScript come with, or
// depend on, a Node that is often outside of the system's folders (nvm, Homebrew, mise).
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
	// A system interpreter is left to the script's first line, because a container has its own.
	found, err = Program{Agent: p.Agent, Args: interpreter, Env: p.Env}.Find()
	if err != nil {
		return Installation{}, fmt.Errorf("find interpreter of program %s: %w", path, err)
	}
	if ofSystem(found) {
		return i, nil
	}
	by, err := filepath.EvalSymlinks(found)
	if err != nil {
		return Installation{}, fmt.Errorf("follow links of interpreter %s: %w", found, err)
	}
	i.Args = slices.Concat([]string{by}, interpreter[1:], i.Args)
	i.Reads = slices.Concat(i.Reads, belongings(by))
	return i, nil
}

// Within reports whether the program, or the interpreter of its script, is in a folder after resolving all links. A missing program is in none. It
// protects against a repository that brings the program that is to work on it: such a program would start before anyone saw it.
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
		return err != nil // unreadable, so nothing is known about it
	}
	by, err := Program{Agent: p.Agent, Args: interpreter, Env: p.Env}.Find()
	return err == nil && resolvedWithin(by, dir)
}

// resolvedWithin is within after resolving all links of both. A path that can't be resolved counts as it is.
func resolvedWithin(path, dir string) bool {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	return within(path, dir)
}

// Located returns p with its program's path on this machine, and shows its files to a sandbox. A missing program keeps its name: it may be in a
// container's image.
func (p Program) Located() Program {
	if i, err := p.Installation(); err == nil {
		p.Args = slices.Concat(i.Args, p.Args[1:])
		p.Reads = slices.Concat(p.Reads, i.Reads)
	}
	return p
}

// belongings returns the files that a program needs at run time, itself included, as npm, Nix, and installers with a bin and a lib folder lay them
// out.
func belongings(path string) []string {
	parts := strings.Split(path, "/")
	if at := slices.Index(parts, "node_modules"); at > 0 {
		return []string{strings.Join(parts[:at+1], "/")} // npm puts what a package depends on beside it
	}
	dir := filepath.Dir(path)
	lib := filepath.Join(filepath.Dir(dir), "lib")
	libInfo, errLib := os.Stat(lib)
	switch {
	case within(path, "/nix/store"):
		return []string{"/nix/store"} // public packages that refer to each other
	case ofSystem(path):
		return []string{path}
	// A bin folder beside a lib folder: the layout of a prefix, such as that of Node's own archive.
	case filepath.Base(dir) == "bin" && errLib == nil && libInfo.IsDir():
		return []string{path, lib}
	case ownFolder(dir):
		return []string{dir}
	}
	return []string{path}
}

// ownFolder reports whether a folder belongs to one program only. A shared folder doesn't, nor does a HOME, nor a folder directly in one, which may
// hold documents or keys.
func ownFolder(dir string) bool {
	if slices.Contains([]string{"bin", "sbin", "lib", "share"}, filepath.Base(dir)) {
		return false
	}
	home, _ := os.UserHomeDir() // if unknown, every folder counts as one in HOME
	for _, pattern := range []string{home, home + "/*", "/", "/*", "/home/*", "/home/*/*", "/root/*"} {
		if shared, err := filepath.Match(pattern, dir); err != nil || shared {
			return false
		}
	}
	return !within(home, dir)
}

// ofSystem reports whether path is in a folder that every sandbox has, its own or the machine's. Which it is, only the sandbox knows.
func ofSystem(path string) bool {
	return slices.ContainsFunc([]string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt"},
		func(dir string) bool { return within(path, dir) })
}

// within reports whether path is dir or below it. Both must be clean and absolute.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// interpreterOf is Interpreter for the file at path. Like the kernel (BINPRM_BUF_SIZE), it reads at most 256 bytes, so a binary costs
// nothing.
func interpreterOf(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("look for interpreter: %w", err)
	}
	defer func() { _ = file.Close() }()
	begin, err := io.ReadAll(io.LimitReader(file, 256))
	if err != nil {
		return nil, fmt.Errorf("look for interpreter in %s: %w", path, err)
	}
	if first, _, _ := strings.Cut(string(begin), "\n"); strings.HasPrefix(first, "#!") && strings.HasSuffix(first, "\r") {
		return nil, ErrLineEnds
	}
	return Interpreter(begin), nil
}

// Interpreter returns the interpreter, with its arguments, that the first line of a file names; nil if the file isn't a script.
func Interpreter(content []byte) []string {
	first, _, _ := strings.Cut(string(content[:min(len(content), 256)]), "\n")
	line, isScript := strings.CutPrefix(first, "#!")
	words := strings.Fields(line)
	if !isScript || len(words) == 0 {
		return nil
	}
	// "#!/usr/bin/env -S node --flag" names node: env and its option only look the name up.
	for len(words) > 1 && (filepath.Base(words[0]) == "env" || words[0] == "-S") {
		words = words[1:]
	}
	return words
}

// Parser returns the command that, with "-n", parses a script of a shell without running it; empty if the interpreter is no shell of which that is
// known. Scripts may switch extglob on only when they run.
func Parser(interpreter string) string {
	switch filepath.Base(interpreter) {
	case "sh", "dash":
		return interpreter
	case "bash":
		return interpreter + " -O extglob"
	}
	return ""
}
