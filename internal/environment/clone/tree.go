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
	// maxFile is the size from which on forges refuse a file.
	maxFile = 100 << 20
	// maxAdded is the new content of all files together: more is a dependency folder or a disk
	// image that nobody ignored.
	maxAdded = 1 << 30
)

// The scripts are run by sh inside; data reaches them as arguments or on standard input only.
// They use no command that looks into a repository nested in the work folder: "git add" runs
// "git status" there, and with it whatever that repository's configuration names.
const (
	// listScript makes the index that of commit $1, keeping what is known of files that are the
	// same there, and prints what differs in the work folder.
	listScript = `git read-tree --reset "$1" && exec git ls-files -z --others --modified --exclude-standard`
	// refreshScript notes the times of all files, too, which a reset has written: later looks read only what changed.
	refreshScript = `git read-tree --reset "$1" || exit
git update-index -q --refresh >/dev/null || true
exec git ls-files -z --others --modified --exclude-standard`
	// strayScript prints nothing exactly if the work folder is that of commit $1, without an empty folder beside it.
	strayScript = `git read-tree --reset "$1" && exec git ls-files -z --others --directory --modified --exclude-standard`
	addScript   = `git update-index -z --add --replace --stdin && exec git write-tree`
)

// tree is the content of the work folder as a tree in the import repository.
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

// changed names what differs from parent, by one of the scripts. An index that cannot be read, which only costs time,
// is made anew.
func (e *Environment) changed(ctx context.Context, parent, script string) ([]string, error) {
	index := filepath.Join(e.layout.index(), "index")
	if err := os.Remove(index + ".lock"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove stale lock: %w", err)
	}
	if err := e.borrowIndex(index); err != nil {
		return nil, err
	}
	list, err := e.importing(ctx, "", "sh", "-c", script, "sh", parent)
	if err != nil && ctx.Err() == nil && os.Remove(index) == nil {
		list, err = e.importing(ctx, "", "sh", "-c", script, "sh", parent)
	}
	return splitNUL(list), err
}

// borrowIndex begins with the base's index where there is none: it knows the files that show
// from there. It waits until it is needed, because copying it takes longer than all else.
func (e *Environment) borrowIndex(index string) error {
	m, err := e.marker()
	if err != nil || !m.Warm.isLayered() {
		return err
	}
	if _, err := os.Lstat(index); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	data, err := os.ReadFile(filepath.Join(e.driver.bases.Path(m.Warm.Base), indexFile))
	if err != nil {
		return fmt.Errorf("read the base's index: %w", err)
	}
	return cache.ReplaceFile(index, data)
}

func objectID(printed string) (string, error) {
	id := strings.TrimSuffix(printed, "\n")
	if !git.ValidID(id) {
		return "", fmt.Errorf("git printed %.80q where an object id was due", printed)
	}
	return id, nil
}

// sort tells names of what is there from names of what is not, both ended by NUL, and looks at
// the sizes before git reads anything. What is reached through a link, or is neither file, link
// nor nested repository (a pipe, say), is not there; a folder's files have names of their own.
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

// importing runs a program with our import repository and index, and the clone as nothing but files.
func (e *Environment) importing(ctx context.Context, input string, args ...string) (string, error) {
	c := process.Command{
		Args:  args,
		Stdin: strings.NewReader(input),
		Total: plumbing.Timeout,
		Env: e.driver.git.Variables(
			"GIT_DIR="+e.layout.importGit(),
			"GIT_WORK_TREE="+e.layout.work,
			"GIT_INDEX_FILE="+filepath.Join(e.layout.index(), "index")),
	}
	if e.driver.config.Unsandboxed {
		c.Dir = e.layout.work
		printed, err := plumbing.Output(ctx, c, e.driver.config.Exec.Exec)
		return printed, e.located(err)
	}
	m, err := e.importMounts(ctx)
	if err != nil {
		return "", err
	}
	printed, err := plumbing.Output(ctx, c, func(ctx context.Context, c process.Command) (process.Result, error) {
		return e.driver.sandbox.Isolated(ctx, m, e.layout.work, c)
	})
	return printed, e.located(err)
}

// importMounts lets git write objects and the index, and nothing that this machine's git would obey.
func (e *Environment) importMounts(ctx context.Context) (sandbox.View, error) {
	m, err := e.driver.sandbox.Base()
	if err != nil {
		return sandbox.View{}, err
	}
	folders, err := plumbing.ObjectFolders(e.driver.config.Repo.ObjectsDir())
	if err != nil {
		return sandbox.View{}, err
	}
	objects := filepath.Join(e.layout.importGit(), "objects")
	for _, path := range append(folders, e.layout.work, e.layout.importGit(), filepath.Join(objects, "info")) {
		m.Show(sandbox.ReadOnly, path)
	}
	m.Show(sandbox.ReadWrite, objects)
	m.Show(sandbox.ReadWrite, e.layout.index())
	n, err := e.namespace(ctx)
	return sandbox.View{Mounts: m, Within: n}, err
}

// lookAt is nil for what git has no mode for.
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
