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

// The scripts are run by sh inside; data reaches them as arguments only.
const (
	// listScript makes the index that of commit $1, keeping what is known of files that are the
	// same there, and prints what differs in the work folder.
	listScript = `git read-tree --reset "$1" && exec git ls-files -z --others --modified --exclude-standard`
	addScript  = `git add --all && exec git write-tree`
)

// Record implements environment.Environment. The commit is dated by the clock, but recording
// the same content on the same parent again answers the first commit.
func (e *Environment) Record(ctx context.Context, parent, message string) (environment.Change, error) {
	change, err := e.record(ctx, parent, message)
	if err != nil {
		return environment.Change{}, fmt.Errorf("record environment %s: %w", e.spec.ID, err)
	}
	return change, nil
}

func (e *Environment) record(ctx context.Context, parent, message string) (environment.Change, error) {
	m, err := e.marker()
	if err != nil {
		return environment.Change{}, err
	}
	before, err := e.driver.config.Repo.TreeOf(ctx, parent)
	if err != nil {
		return environment.Change{}, err
	}
	tree, err := e.tree(ctx, parent)
	if err != nil {
		return environment.Change{}, err
	}
	change := environment.Change{Commit: parent, Tree: tree, Changed: tree != before}
	if change.Changed {
		if err := e.commit(ctx, m, tree, parent, message); err != nil {
			return environment.Change{}, err
		}
		change.Commit = m.Recorded.Commit
	}
	m.Head = change.Commit
	return change, e.layout.save(m)
}

// marker is what the environment was made from; it is there once Make returned.
func (e *Environment) marker() (*made, error) {
	m, err := e.layout.load()
	if err == nil && m == nil {
		err = fmt.Errorf("read environment marker %s: %w", e.layout.marker(), fs.ErrNotExist)
	}
	return m, err
}

// commit brings a tree into the project's repository. Its commit is noted down before, so that
// a repetition after a crash imports the same one.
func (e *Environment) commit(ctx context.Context, m *made, tree, parent, message string) error {
	if r := m.Recorded; r.Parent == parent && r.Tree == tree && r.Message == message && e.importCommit(ctx, r.Commit) == nil {
		return nil
	}
	id, err := e.commitTree(ctx, tree, message, parent)
	if err != nil {
		return err
	}
	m.Recorded = recorded{Parent: parent, Tree: tree, Message: message, Commit: id}
	if err := e.layout.save(m); err != nil {
		return err
	}
	return e.importCommit(ctx, id)
}

// commitTree makes a commit in the import repository.
func (e *Environment) commitTree(ctx context.Context, tree, message string, parents ...string) (string, error) {
	args := []string{"commit-tree", "--no-gpg-sign", "-F", "-"}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	identity, date := e.driver.config.Identity, fmt.Sprintf("@%d +0000", e.driver.config.Clock().Unix())
	id, err := e.driver.git(ctx, process.Command{
		Args: append(args, tree), Stdin: strings.NewReader(message), Env: []string{
			"GIT_DIR=" + e.layout.importGit(),
			"GIT_AUTHOR_NAME=" + identity.Name, "GIT_AUTHOR_EMAIL=" + identity.Email, "GIT_AUTHOR_DATE=" + date,
			"GIT_COMMITTER_NAME=" + identity.Name, "GIT_COMMITTER_EMAIL=" + identity.Email, "GIT_COMMITTER_DATE=" + date,
		}})
	if err != nil {
		return "", fmt.Errorf("commit tree %s: %w", tree, err)
	}
	return objectID(id)
}

// importCommit fetches a commit, its objects checked, and keeps it on the environment's ref.
func (e *Environment) importCommit(ctx context.Context, id string) error {
	return e.driver.config.Repo.FetchObjects(ctx, e.layout.importGit(), id, "refs/signalbox/environments/"+e.spec.ID)
}

// tree is the content of the work folder as a tree in the import repository. An index that
// cannot be read, which only costs time, is made anew.
func (e *Environment) tree(ctx context.Context, parent string) (string, error) {
	index := filepath.Join(e.layout.index(), "index")
	if err := os.Remove(index + ".lock"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("remove stale lock: %w", err)
	}
	list, err := e.importing(ctx, listScript, parent)
	if err != nil && ctx.Err() == nil && os.Remove(index) == nil {
		list, err = e.importing(ctx, listScript, parent)
	}
	if err != nil {
		return "", fmt.Errorf("list changed files: %w", err)
	}
	if err := e.checkSizes(splitNUL(list)); err != nil {
		return "", err
	}
	tree, err := e.importing(ctx, addScript)
	if err != nil {
		return "", fmt.Errorf("add the work folder: %w", err)
	}
	return objectID(tree)
}

func objectID(printed string) (string, error) {
	id := strings.TrimSuffix(printed, "\n")
	if !git.ValidID(id) {
		return "", fmt.Errorf("git printed %.80q where an object id was due", printed)
	}
	return id, nil
}

// checkSizes looks at the files before git reads them. What cannot be looked at is left to
// git, which names it.
func (e *Environment) checkSizes(names []string) error {
	root, err := os.OpenRoot(e.layout.work)
	if err != nil {
		return fmt.Errorf("open the work folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	var added int64
	for _, name := range names {
		info, err := root.Lstat(filepath.FromSlash(name))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if added += info.Size(); info.Size() > maxFile || added > maxAdded {
			return fmt.Errorf("%q has %d bytes, all new files together %d or more: %w: ignore or delete them",
				name, info.Size(), added, ErrTooLarge)
		}
	}
	return nil
}

// importing runs a script with our import repository and index, and the clone as nothing but files.
func (e *Environment) importing(ctx context.Context, script string, args ...string) (string, error) {
	c := process.Command{
		Args:  append([]string{"sh", "-c", script, "sh"}, args...),
		Total: gitTimeout,
		Env: e.driver.gitVariables(
			"GIT_DIR="+e.layout.importGit(),
			"GIT_WORK_TREE="+e.layout.work,
			"GIT_INDEX_FILE="+filepath.Join(e.layout.index(), "index")),
	}
	if e.driver.config.Unsandboxed {
		c.Dir = e.layout.work
		return output(ctx, c, e.driver.config.Exec.Exec)
	}
	m, err := e.importMounts()
	if err != nil {
		return "", err
	}
	return output(ctx, c, func(ctx context.Context, c process.Command) (process.Result, error) {
		return e.driver.sandboxed(ctx, m, e.layout.work, c)
	})
}

// importMounts lets git write objects and the index, and nothing that this machine's git would obey.
func (e *Environment) importMounts() (mounts, error) {
	m, err := e.driver.base()
	if err != nil {
		return nil, err
	}
	folders, err := objectFolders(e.driver.config.Repo.ObjectsDir())
	if err != nil {
		return nil, err
	}
	objects := filepath.Join(e.layout.importGit(), "objects")
	for _, path := range append(folders, e.layout.work, e.layout.importGit(), filepath.Join(objects, "info")) {
		m.show(readOnly, path)
	}
	m.show(readWrite, objects)
	m.show(readWrite, e.layout.index())
	return m, nil
}
