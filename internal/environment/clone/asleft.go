package clone

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxGitEntries bounds what is looked at of a .git: one of ours holds some thirty files, and where there are many it is
// reset by its own git.
const maxGitEntries = 5000

// noteGit notes what the clone's .git is like after our own git made it or reset it to commit. An environment whose .git is still
// like that, and whose files are the commit's, needs no reset: most tests leave neither changed. What cannot be noted
// is reset.
func (e *Environment) noteGit(ctx context.Context, commit string) {
	if n, err := e.namespace(ctx); err == nil {
		e.noteGitOf(n.Path(e.layout.work), commit)
	}
}

func (e *Environment) noteGitOf(dir, commit string) {
	if state, err := gitState(dir); err == nil {
		_ = os.WriteFile(e.layout.gitState(), []byte(commit+" "+state), 0o600)
	}
}

// isAsLeft reports whether the environment is as our own git left it at commit.
func (e *Environment) isAsLeft(ctx context.Context, commit string) bool {
	noted, err := os.ReadFile(e.layout.gitState())
	if err != nil || len(noted) == 0 {
		return false
	}
	n, err := e.namespace(ctx)
	if err != nil {
		return false
	}
	if state, err := gitState(n.Path(e.layout.work)); err != nil || commit+" "+state != string(noted) { // a recorded commit is not yet the clone's own
		return false
	}
	names, err := e.changed(ctx, commit, strayScript)
	return err == nil && len(names) == 0
}

var errManyFiles = errors.New("too many files")

// gitState is a digest of the names below .git but for loose objects, and of what tells a file that was written or
// replaced: a program can set every time of a file but that of its last change.
func gitState(dir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	sum, entries := sha256.New(), 0
	err = fs.WalkDir(root.FS(), ".git", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entries++; entries > maxGitEntries {
			return errManyFiles
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		s, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return errors.ErrUnsupported
		}
		_, _ = fmt.Fprintf(sum, "%q %d %o %d %v %v\n", path, s.Ino, s.Mode, s.Size, s.Mtim, s.Ctim)
		if filepath.Dir(path) == ".git/objects" && len(entry.Name()) == len("00") { // loose ones, of which the folder tells
			return fs.SkipDir
		}
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}
