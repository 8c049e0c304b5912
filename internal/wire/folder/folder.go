// Package folder finds the folder that a command works on, without starting git or any other program.
package folder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// AboveClones is dir or, inside an environment's clone (.worktrees/issue-…), the project that the clone belongs to. The
// outermost counts: an agent wrote everything inside a clone, so our git must not run there.
func AboveClones(dir string) string {
	project := dir
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		trees := filepath.Dir(at)
		above := filepath.Dir(trees)
		if filepath.Base(trees) != ".worktrees" || !strings.HasPrefix(filepath.Base(at), "issue-") {
			continue
		}
		if _, err := os.Stat(filepath.Join(above, ".git")); !errors.Is(err, os.ErrNotExist) {
			project = above
		}
	}
	return project
}

// Root is the folder of the documents around dir: the top of git's work tree, or else dir or the nearest folder above
// it that holds documents and that only the user can write to, or else dir itself. gitDir is empty outside of git.
func Root(dir string) (root, gitDir string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", "", fmt.Errorf("find the project: %w", err)
	}
	root = dir
	for at, found := dir, false; ; at = filepath.Dir(at) {
		gitDir, err := gitDirOf(at)
		if err != nil {
			return "", "", fmt.Errorf("find the repository: %w", err)
		}
		if gitDir != "" {
			return at, gitDir, nil
		}
		if !found && holdsDocuments(at, at == dir) {
			root, found = at, true
		}
		if at == filepath.Dir(at) {
			return root, "", nil
		}
	}
}

// holdsDocuments reports whether a folder holds documents. Anyone may have put them into a folder like /tmp, so they count only
// if the user owns the folder and others can't write to it, or if the user named it.
func holdsDocuments(dir string, named bool) bool {
	if !named {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o002 != 0 {
			return false
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
			return false
		}
	}
	for _, name := range []string{".signalbox", "environments.json", ".worktrees", "state.json"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// gitDirOf is the folder with the refs and the configuration of the repository whose top is dir; empty if dir is no top of
// one. All work trees share it. In a linked work tree and in a submodule, .git is a file that leads there.
func gitDirOf(dir string) (string, error) {
	path := filepath.Join(dir, ".git")
	info, err := os.Stat(path)
	if err != nil {
		return "", nil //nolint:nilerr // if we can't look, there's no repository for us
	}
	if !info.IsDir() {
		target, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		path = Within(dir, strings.TrimPrefix(strings.TrimSpace(string(target)), "gitdir: "))
	}
	if _, err := os.Stat(filepath.Join(path, "HEAD")); err != nil {
		return "", nil //nolint:nilerr // git does not take it for a repository either
	}
	common, err := os.ReadFile(filepath.Join(path, "commondir"))
	if errors.Is(err, os.ErrNotExist) {
		return path, nil
	}
	return Within(path, strings.TrimSpace(string(common))), err
}

// Within is path as seen from dir; an absolute path stays as it is.
func Within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
