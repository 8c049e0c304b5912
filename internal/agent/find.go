package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Find looks up the program on this machine, in the PATH of Env or, without one, in Signalbox's own, which environments inherit.
func (p Program) Find() (string, error) {
	name := p.Args[0]
	if strings.Contains(name, "/") {
		return name, executable(name)
	}
	path := os.Getenv("PATH")
	for _, variable := range p.Env {
		if value, ok := strings.CutPrefix(variable, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if filepath.IsAbs(file) && executable(file) == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("find program %q of agent %q in PATH: %w", name, p.Agent, fs.ErrNotExist)
}

func executable(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("find program: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("find program %s: %w", file, errNotExecutable)
	}
	return nil
}

var errNotExecutable = errors.New("is not an executable file")
