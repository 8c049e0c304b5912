package detect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"
)

// maxListed is more files than any project has. A folder without git may hold anything.
const maxListed = 200_000

var errManyFiles = errors.New("more files than a project has")

// Folder is the content of a folder. Symbolic links are not followed.
type Folder struct {
	Root *os.Root
	// Names lists the files, if the caller knows them; nil means that the folder is walked.
	Names func(context.Context) ([]string, error)
}

// List returns the names of the files. Names may list files that no longer exist.
func (f Folder) List(ctx context.Context) (names []string, err error) {
	if f.Names != nil {
		return f.Names(ctx)
	}
	err = fs.WalkDir(f.Root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && name == ".":
			return err
		case err != nil:
			return fs.SkipDir // an unreadable folder
		case entry.IsDir() && name != "." && slices.Contains(heavy, path.Base(name)):
			return fs.SkipDir
		case len(names) == maxListed:
			return errManyFiles
		case entry.Type().IsRegular():
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list files of %s: %w", f.Root.Name(), err)
	}
	return names, nil
}

// heavy are large folders that nothing here reads.
var heavy = []string{".git", "node_modules", "venv", ".venv"}

// Read returns the first limit bytes of a regular file.
func (f Folder) Read(_ context.Context, name string, limit int64) ([]byte, error) {
	before, err := f.Root.Lstat(name)
	if err != nil {
		return nil, err
	}
	file, err := f.Root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a pipe would block
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || !before.Mode().IsRegular() || !os.SameFile(before, info) {
		return nil, errors.Join(fmt.Errorf("read %s: not a regular file", name), err)
	}
	return io.ReadAll(io.LimitReader(file, limit))
}
