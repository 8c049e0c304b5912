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

	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/folder"
)

// noteUntouched notes that no command but ours has run in the new clone, so that Restore need not build another. It notes
// nothing if commands run by other means than Exec.
func (e *Environment) noteUntouched() error {
	if e.driver.shown.Load() {
		return nil
	}
	if err := os.WriteFile(e.layout.untouched, nil, 0o600); err != nil {
		return fmt.Errorf("note that the clone is untouched: %w", err)
	}
	return nil
}

// touch removes that note before a command runs. It flushes: after a power cut, the command's files must not count as ours.
func (l layout) touch() error {
	err := os.Remove(l.untouched)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = cache.SyncFolder(l.private)
	}
	if err != nil {
		return fmt.Errorf("note that a command runs: %w", err)
	}
	return nil
}

func (l layout) isUntouched() bool {
	_, err := os.Lstat(l.untouched)
	return err == nil
}

// isSettled reports whether the environment is as Make, or a Reset after it, left it: at commit, and unchanged by any command.
func (e *Environment) isSettled(m *made, commit string) bool {
	return e.layout.isUntouched() && !e.driver.shown.Load() && (m.Warm == nil || !m.Warm.Pending) && m.Keeping == "" && m.Head == commit &&
		folder.Is(e.layout.work)
}

// maxGitEntries bounds the files that gitState reads: our own .git has about thirty, and one with many is simply reset.
const maxGitEntries = 5000

// noteGit notes the state of the clone's .git after our own git made it or reset it to commit. An environment with the same state
// later, and with the commit's files, needs no reset: most tests change neither. Without a note it is reset.
func (e *Environment) noteGit(ctx context.Context, dir, commit string) {
	n, err := e.namespace(ctx)
	if err != nil {
		return
	}
	if state, err := gitState(n.Path(dir)); err == nil {
		_ = os.WriteFile(e.layout.gitState, []byte(commit+" "+state), 0o600)
	}
}

// isAsLeft reports whether the environment is as our own git left it at commit.
func (e *Environment) isAsLeft(ctx context.Context, commit string) bool {
	noted, err := os.ReadFile(e.layout.gitState)
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

// gitState returns a digest of the names below .git, except loose objects, and of the data that reveals a written or replaced
// file: a program can set every time of a file except that of its last change.
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
		if filepath.Dir(path) == ".git/objects" && len(entry.Name()) == len("00") { // loose ones change their folder
			return fs.SkipDir
		}
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}
