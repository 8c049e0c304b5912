package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"signalbox/internal/environment"
	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/plumbing"
	"signalbox/internal/environment/clone/sandbox"
	"signalbox/internal/git"
	"signalbox/internal/process"
)

const (
	// maxFile is the size from which forges refuse a file.
	maxFile = 100 << 20
	// maxAdded is the new content of all files together: more is a dependency folder or a disk image that the project forgot
	// to ignore.
	maxAdded = 1 << 30
)

// sh runs the scripts inside; data reaches them as arguments or on standard input only. They use no command that looks into a
// repository nested in the work folder: "git add" runs "git status" there, and with it programs that the nested repository's
// configuration names.
const (
	// listScript makes the index that of commit $1, keeping the times of files that are the same there, and prints the files
	// that differ in the work folder.
	listScript = `git read-tree --reset "$1" && exec git ls-files -z --others --modified --exclude-standard`
	// refreshScript also notes the times of all files, which a reset has written: later scripts read only changed files.
	refreshScript = `git read-tree --reset "$1" || exit
git update-index -q --refresh >/dev/null || true
exec git ls-files -z --others --modified --exclude-standard`
	// strayScript prints nothing if and only if the work folder is that of commit $1, without further empty folders.
	strayScript = `git read-tree --reset "$1" && exec git ls-files -z --others --directory --modified --exclude-standard`
	addScript   = `git update-index -z --add --replace --stdin && exec git write-tree`
)

// tree writes the content of the work folder as a tree into the import repository and returns its id.
func (e *Environment) tree(ctx context.Context, parent, script string) (string, error) {
	if err := e.layout.present(); err != nil {
		return "", err
	}
	names, err := e.changed(ctx, parent, script)
	if err != nil {
		return "", fmt.Errorf("list changed files: %w", err)
	}
	if len(names) == 0 {
		return e.driver.config.Repo.TreeOf(ctx, parent)
	}
	present, absent, err := e.sort(ctx, names)
	if err != nil {
		return "", err
	}
	if absent != "" {
		if _, err := e.importing(ctx, absent, "git", "update-index", "-z", "--force-remove", "--stdin"); err != nil {
			return "", fmt.Errorf("drop deleted files: %w", err)
		}
	}
	tree, err := e.importing(ctx, present, "sh", "-c", addScript)
	if err != nil {
		return "", fmt.Errorf("add changed files: %w", err)
	}
	return objectID(tree)
}

// changed returns the files that differ from parent, according to one of the scripts. If git can't read the index it makes a new
// one, which only costs time. An environment on an overlay starts with the snapshot's index, which knows the files from there;
// copying that takes longer than all else, so it waits until now.
func (e *Environment) changed(ctx context.Context, parent, script string) ([]string, error) {
	index := filepath.Join(e.layout.index, "index")
	if err := os.Remove(index + ".lock"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove stale lock: %w", err)
	}
	m, err := e.marker()
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(index); m.Warm.isLayered() && errors.Is(err, fs.ErrNotExist) {
		data, err := os.ReadFile(filepath.Join(e.driver.snapshots.Path(m.Warm.Snapshot), indexFile))
		if err != nil {
			return nil, fmt.Errorf("read the snapshot's index: %w", err)
		}
		if err := cache.ReplaceFile(index, data); err != nil {
			return nil, err
		}
	}
	list, err := e.importing(ctx, "", "sh", "-c", script, "sh", parent)
	if err != nil && ctx.Err() == nil && os.Remove(index) == nil {
		list, err = e.importing(ctx, "", "sh", "-c", script, "sh", parent)
	}
	return splitNUL(list), err
}

func objectID(printed string) (string, error) {
	id := strings.TrimSuffix(printed, "\n")
	if !git.ValidID(id) {
		return "", fmt.Errorf("git printed %.80q instead of an object id", printed)
	}
	return id, nil
}

// sort separates the names of existing files from those of deleted ones, both ended by NUL, and checks the sizes before git reads
// anything. Anything behind a link, and anything but a file, link or nested repository (a pipe, say), counts as deleted; a
// folder's files have names of their own.
func (e *Environment) sort(ctx context.Context, names []string) (present, absent string, err error) {
	n, err := e.namespace(ctx)
	if err != nil {
		return "", "", err
	}
	root, err := os.OpenRoot(n.Path(e.layout.work))
	if err != nil {
		return "", "", fmt.Errorf("open the work folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	var there, gone strings.Builder
	var added int64
	for _, name := range names {
		// A nested repository is listed with a slash.
		name = strings.TrimSuffix(name, "/")
		info, err := lookAt(root, name)
		if err != nil {
			return "", "", fmt.Errorf("look at %q: %w", name, e.located(err))
		}
		if info == nil {
			gone.WriteString(name + "\x00")
			continue
		}
		there.WriteString(name + "\x00")
		if !info.Mode().IsRegular() {
			continue
		}
		if added += info.Size(); info.Size() > maxFile || added > maxAdded {
			return "", "", fmt.Errorf("%q has %d bytes, all new files together %d or more: %w: ignore or delete them",
				name, info.Size(), added, environment.ErrTooLarge)
		}
	}
	return there.String(), gone.String(), nil
}

// importing runs a program with our import repository and index, which uses the clone only as files. It can write objects and the
// index, and nothing that this machine's git would obey.
func (e *Environment) importing(ctx context.Context, input string, args ...string) (string, error) {
	var readOnly []string
	objects := filepath.Join(e.layout.importGit, "objects")
	if !e.driver.config.Unsandboxed {
		folders, err := plumbing.ObjectFolders(e.driver.config.Repo.ObjectsDir())
		if err != nil {
			return "", err
		}
		readOnly = append(folders, e.layout.work, e.layout.importGit, filepath.Join(objects, "info"))
	}
	return e.onFiles(ctx, e.layout.work, process.Command{Args: args, Stdin: strings.NewReader(input), Env: e.driver.git.Variables(
		"GIT_DIR="+e.layout.importGit, "GIT_WORK_TREE="+e.layout.work, "GIT_INDEX_FILE="+filepath.Join(e.layout.index, "index"))},
		readOnly, []string{objects, e.layout.index})
}

// onFiles runs our own git on the files of dir, the work folder or the fresh clone, and returns its output. In the sandbox it has
// no network, and sees nothing but the paths in readOnly and readWrite.
func (e *Environment) onFiles(ctx context.Context, dir string, c process.Command, readOnly, readWrite []string) (printed string, err error) {
	d := e.driver
	c.Total = plumbing.Timeout
	if d.config.Unsandboxed {
		c.Dir = dir
		printed, err = plumbing.Output(ctx, c, d.config.Exec.Exec)
		return printed, e.located(err)
	}
	v := sandbox.View{}
	if v.Mounts, err = d.sandbox.Base(); err != nil {
		return "", err
	}
	for _, path := range readOnly {
		v.Mounts.Show(sandbox.ReadOnly, path)
	}
	for _, path := range readWrite {
		v.Mounts.Show(sandbox.ReadWrite, path)
	}
	if dir == e.layout.work {
		if v.Within, err = e.namespace(ctx); err != nil {
			return "", err
		}
	}
	printed, err = plumbing.Output(ctx, c, func(ctx context.Context, c process.Command) (process.Result, error) {
		return d.sandbox.Isolated(ctx, v, dir, c)
	})
	return printed, e.located(err)
}

// lookAt returns nil if git has no mode for the file, or there is none.
func lookAt(root *os.Root, name string) (fs.FileInfo, error) {
	if err := folder.NoLinks(root, filepath.Dir(name)); err != nil {
		return nil, folder.Absence(err)
	}
	info, err := root.Lstat(name)
	if err != nil {
		return nil, folder.Absence(err)
	}
	switch info.Mode().Type() {
	case 0, fs.ModeSymlink:
		return info, nil
	case fs.ModeDir:
		if _, err := root.Lstat(filepath.Join(name, ".git")); err != nil {
			return nil, folder.Absence(err)
		}
		return info, nil
	}
	return nil, nil
}
