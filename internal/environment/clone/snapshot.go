package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/submodule"
	"signalbox/internal/process"
)

// The files of a snapshot.
const (
	treeFolder  = "tree"    // the work folder, with a .git that no command wrote in
	homeFolder  = "home"    // HOME
	indexFile   = "index"   // the index with the file times of tree
	ignoredFile = "ignored" // the files that git ignores in tree, each name ended by NUL
	gitFolder   = "git"     // the future .git, while the snapshot is made
)

// maxIgnored bounds the names in ignoredFile. A project that ignores files in more places (compiled ones beside each source,
// say) gets no snapshot.
const maxIgnored = 20_000

// Snapshot implements environment.Environment. It copies nothing: it renames the folders into the snapshot, which keeps the
// times by which git knows the files, and the environment continues on top of it. The environment's own .git, in which setup
// commands could write, is thrown away.
func (e *Environment) Snapshot(ctx context.Context, key string) error {
	m, err := e.marker()
	if err != nil {
		return err
	}
	if err := e.adoptSetup(ctx, m); err != nil {
		return fmt.Errorf("keep environment %s: %w", e.spec.ID, err)
	}
	if key == "" || e.way(ctx) == Off {
		return nil
	}
	if err := e.keepAs(ctx, m, key); err != nil {
		return fmt.Errorf("keep environment %s as %s: %w", e.spec.ID, key, err)
	}
	return nil
}

// Empty reports whether the environment has nothing but the commit: no file in HOME except ours, and no untracked file in the
// work folder.
func (e *Environment) Empty(ctx context.Context) (bool, error) {
	files := 0
	err := filepath.WalkDir(e.layout.home, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !slices.Contains(profiles, entry.Name()) {
			files++
			return filepath.SkipAll
		}
		return err
	})
	if err != nil || files > 0 {
		return false, err
	}
	list, err := e.importing(ctx, "", "git", "ls-files", "-z", "--others", "--directory", "--no-empty-directory")
	return list == "", err
}

// keepAs makes the environment's content a snapshot under key, unless there is one, or it is too large.
func (e *Environment) keepAs(ctx context.Context, m *made, key string) error {
	id, err := cache.NewID(key)
	if err != nil {
		return err
	}
	if done, err := e.alreadyKept(ctx, key); err != nil || done || m.Warm != nil {
		return err
	}
	// The tracked content becomes exactly that of the commit.
	tree, err := e.driver.config.Repo.TreeOf(ctx, m.Head)
	if err != nil {
		return err
	}
	if !e.brought(ctx, m, tree) {
		return fmt.Errorf("the work folder cannot be brought to %s", m.Head)
	}
	submodules, err := e.wanted(ctx, m.Head)
	if err != nil {
		return err
	}
	if err := e.place(ctx, m, e.layout.work, submodules); err != nil {
		return err
	}
	size, files, err := folder.Usage(ctx, e.layout.work, e.layout.home)
	if err != nil || size > e.driver.config.Cache || !folder.SameDevice(e.layout.work, e.driver.config.State) {
		return err
	}
	m.Keeping = id
	if err := e.layout.save(m); err != nil {
		return err
	}
	entry := cache.Entry{ID: id, Key: key, Environment: e.spec.ID, Commit: m.Head, Version: snapshotVersion,
		Dir: e.Dir(), Home: e.home, Bytes: size, Files: files, Created: e.driver.config.Clock().UTC()}
	if err := e.prepareSnapshot(ctx, entry, m); err != nil {
		return err
	}
	if err := e.finishSnapshot(ctx, m); err != nil {
		return err
	}
	_, err = e.driver.Prune(ctx, e.driver.config.Cache, false)
	return err
}

// alreadyKept reports whether there is a snapshot for the key, and notes that it is used.
func (e *Environment) alreadyKept(ctx context.Context, key string) (bool, error) {
	unlock, err := e.driver.snapshots.Lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	snapshot, err := e.driver.snapshots.Find(func(s *cache.Entry) bool {
		return s.Key == key && s.Dir == e.Dir() && s.Home == e.home
	})
	if err != nil || snapshot == nil {
		return false, err
	}
	return true, e.driver.snapshots.Touch(snapshot.ID)
}

// prepareSnapshot makes all parts of a snapshot except the folders themselves, which stay untouched. It describes the snapshot
// last: from then on finishSnapshot continues after a crash.
func (e *Environment) prepareSnapshot(ctx context.Context, entry cache.Entry, m *made) error {
	staging, err := e.driver.snapshots.Stage(entry.ID)
	if err != nil {
		return err
	}
	if err := e.writeIgnored(ctx, staging, m.Submodules); err != nil {
		return err
	}
	adopted := strings.Join(append(slices.Clone(m.Adopted), ""), "\x00")
	if err := errors.Join(cache.ReplaceFile(filepath.Join(staging, adoptedFile), []byte(adopted)), writeSubmodules(staging, m.Submodules)); err != nil {
		return err
	}
	// Its .git has the history of the commit and no branch.
	if err := errors.Join(e.layout.removeLeftovers(), e.initialize(ctx, nil, entry.Commit)); err != nil {
		return err
	}
	if _, err := e.inFresh(ctx, "update-ref", "-d", "refs/heads/"+e.spec.Branch); err != nil {
		return fmt.Errorf("drop the branch of the snapshot: %w", err)
	}
	if err := os.Rename(filepath.Join(e.layout.fresh, ".git"), filepath.Join(staging, gitFolder)); err != nil {
		return fmt.Errorf("move the snapshot's repository: %w", err)
	}
	if err := e.layout.removeLeftovers(); err != nil {
		return err
	}
	index, err := os.ReadFile(filepath.Join(e.layout.index, "index"))
	if err != nil {
		return fmt.Errorf("read the index: %w", err)
	}
	for _, path := range []string{indexFile, gitFolder + "/index"} {
		if err := cache.ReplaceFile(filepath.Join(staging, path), index); err != nil {
			return fmt.Errorf("write the snapshot's index: %w", err)
		}
	}
	return e.driver.snapshots.Describe(entry)
}

// finishSnapshot does the remaining steps of making the environment's content a snapshot. Each step finds out by itself whether it
// was done before a crash.
func (e *Environment) finishSnapshot(ctx context.Context, m *made) error {
	id := m.Keeping
	published, err := e.driver.snapshots.Published(id)
	if err != nil {
		return err
	}
	described, err := e.driver.snapshots.Described(id)
	if err != nil {
		return err
	}
	if described {
		if err := e.moveIntoSnapshot(ctx, e.driver.snapshots.Staging(id)); err != nil {
			return err
		}
		if err := e.driver.snapshots.Publish(id); err != nil {
			return err
		}
		published = true
	}
	m.Keeping = ""
	if published {
		snapshot, err := e.driver.snapshots.Find(func(s *cache.Entry) bool { return s.ID == id })
		if err != nil {
			return err
		}
		m.Warm = &warm{Snapshot: id, Commit: m.Head, Way: e.wayOn(ctx, snapshot)}
	}
	if err := e.layout.save(m); err != nil {
		return err
	}
	return e.settle(ctx, m)
}

// moveIntoSnapshot renames the environment's folders into the folder in which the snapshot is made.
func (e *Environment) moveIntoSnapshot(ctx context.Context, staging string) error {
	if _, err := process.Sweep(ctx, e.layout.tag); err != nil {
		return fmt.Errorf("end its processes: %w", err)
	}
	tree, git := filepath.Join(staging, treeFolder), filepath.Join(staging, gitFolder)
	for from, to := range map[string]string{e.layout.work: tree, e.layout.home: filepath.Join(staging, homeFolder)} {
		if folder.Is(to) {
			continue
		}
		if err := os.Rename(from, to); err != nil {
			return fmt.Errorf("move %s into the snapshot: %w", from, err)
		}
	}
	if folder.Is(git) {
		if err := errors.Join(folder.Remove(filepath.Join(tree, ".git")), os.Rename(git, filepath.Join(tree, ".git"))); err != nil {
			return fmt.Errorf("replace the snapshot's .git: %w", err)
		}
	}
	if err := os.Mkdir(e.layout.home, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make HOME: %w", err)
	}
	return folder.SyncAll(staging)
}

// writeIgnored lists the files that git ignores. It lists a folder that is ignored as a whole, or is a submodule's, by its name
// alone.
func (e *Environment) writeIgnored(ctx context.Context, staging string, submodules []submodule.Placed) error {
	list, err := e.importing(ctx, "", "git", "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	if err != nil {
		return fmt.Errorf("list ignored files: %w", err)
	}
	root, err := os.OpenRoot(e.layout.work)
	if err != nil {
		return fmt.Errorf("open the work folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	var names strings.Builder
	for i, name := range splitNUL(list) {
		name = strings.TrimSuffix(name, "/")
		if i == maxIgnored {
			return fmt.Errorf("git ignores files in more than %d places", maxIgnored)
		}
		if err := folder.NoLinks(root, filepath.Dir(name)); err != nil || !mayKeep(name) {
			return errors.Join(err, fmt.Errorf("git listed %q as ignored", name))
		}
		names.WriteString(name + "\x00")
	}
	for _, s := range submodules {
		names.WriteString(s.Path + "\x00")
	}
	return cache.ReplaceFile(filepath.Join(staging, ignoredFile), []byte(names.String()))
}

func mayKeep(name string) bool {
	return filepath.IsLocal(name) && name == filepath.Clean(name) && name != "." && name != ".git" && !strings.HasPrefix(name, ".git/")
}

// readIgnored returns the list of writeIgnored without files in a folder of the list: git lists both if the folder has a
// .gitignore of its own.
func readIgnored(snapshot string) (names []string, err error) {
	list, err := os.ReadFile(filepath.Join(snapshot, ignoredFile))
	if err != nil {
		return nil, fmt.Errorf("read the snapshot's ignored files: %w", err)
	}
	listed := map[string]bool{}
	for _, name := range splitNUL(string(list)) {
		listed[name] = true
	}
	for _, name := range splitNUL(string(list)) {
		above := filepath.Dir(name)
		for above != "." && !listed[above] {
			above = filepath.Dir(above)
		}
		if above == "." {
			names = append(names, name)
		}
	}
	return names, nil
}
