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

// What lies in a base.
const (
	treeFolder  = "tree"    // the work folder, with a .git that no command wrote in
	homeFolder  = "home"    // HOME
	indexFile   = "index"   // the index whose file times are those of tree
	ignoredFile = "ignored" // what git ignores in tree, each name ended by NUL
	gitFolder   = "git"     // the .git to be, while the base is made
)

// maxIgnored bounds the names in ignoredFile. A project that ignores files in more places
// (compiled ones beside each source, say) is not kept.
const maxIgnored = 20_000

// Snapshot implements environment.Environment. Nothing is copied: the folders are renamed into the
// base, which leaves the times by which git knows the files, and the environment goes on as one
// that stands on it. Its own .git, in which set-up commands could write, is thrown away.
func (e *Environment) Snapshot(ctx context.Context, key string) error {
	m, err := e.marker()
	if err != nil {
		return err
	}
	if err := e.adoptSetUp(ctx, m); err != nil {
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

// Empty reports whether nothing lies in the environment that is not the commit's: no file in HOME but ours, none in the work folder
// that git does not track.
func (e *Environment) Empty(ctx context.Context) (bool, error) {
	files := 0
	err := filepath.WalkDir(e.layout.home(), func(path string, entry fs.DirEntry, err error) error {
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

func (e *Environment) keepAs(ctx context.Context, m *made, key string) error {
	id, err := cache.NewID(key)
	if err != nil {
		return err
	}
	if done, err := e.alreadyKept(ctx, key); err != nil || done || m.Warm != nil {
		return err
	}
	if err := e.cleanForKeeping(ctx, m); err != nil {
		return err
	}
	size, files, err := folder.Usage(ctx, e.layout.work, e.layout.home())
	if err != nil || size > e.driver.config.Cache || !folder.SameDevice(e.layout.work, e.driver.config.State) {
		return err
	}
	m.Keeping = id
	if err := e.layout.save(m); err != nil {
		return err
	}
	entry := cache.Entry{ID: id, Key: key, Environment: e.spec.ID, Commit: m.Head, Version: baseVersion,
		Dir: e.Dir(), Home: e.home(), Bytes: size, Files: files, Created: e.driver.config.Clock().UTC()}
	if err := e.prepareBase(ctx, entry, m); err != nil {
		return err
	}
	if err := e.goOnKeeping(ctx, m); err != nil {
		return err
	}
	return e.driver.prune(ctx)
}

// alreadyKept reports whether there is a base for the key, and notes that it is used.
func (e *Environment) alreadyKept(ctx context.Context, key string) (bool, error) {
	unlock, err := e.driver.bases.Lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	base, err := e.driver.bases.Find(func(b *cache.Entry) bool {
		return b.Key == key && b.Version == baseVersion && b.Dir == e.Dir() && b.Home == e.home()
	})
	if err != nil || base == nil {
		return false, err
	}
	return true, e.driver.bases.Touch(base.ID)
}

// cleanForKeeping makes the tracked content exactly that of the commit.
func (e *Environment) cleanForKeeping(ctx context.Context, m *made) error {
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
	return e.place(ctx, m, e.layout.work, submodules)
}

// prepareBase makes all of a base but the folders themselves, which nothing has touched yet.
// Describing it comes last: from then on a crash is followed by goOnKeeping.
func (e *Environment) prepareBase(ctx context.Context, entry cache.Entry, m *made) error {
	staging, err := e.driver.bases.Stage(entry.ID)
	if err != nil {
		return err
	}
	if err := e.writeIgnored(ctx, staging, m.Submodules); err != nil {
		return err
	}
	if err := errors.Join(writeAdopted(staging, m.Adopted), writeSubmodules(staging, m.Submodules)); err != nil {
		return err
	}
	if err := e.prepareGit(ctx, entry.Commit, filepath.Join(staging, gitFolder)); err != nil {
		return err
	}
	index, err := os.ReadFile(filepath.Join(e.layout.index(), "index"))
	if err != nil {
		return fmt.Errorf("read the index: %w", err)
	}
	for _, path := range []string{indexFile, gitFolder + "/index"} {
		if err := cache.ReplaceFile(filepath.Join(staging, path), index); err != nil {
			return fmt.Errorf("write the base's index: %w", err)
		}
	}
	return e.driver.bases.Describe(entry)
}

// prepareGit makes a .git that has the history of commit and no branch.
func (e *Environment) prepareGit(ctx context.Context, commit, dir string) error {
	if err := errors.Join(e.layout.removeLeftovers(), e.initialize(ctx, nil, commit)); err != nil {
		return err
	}
	if _, err := e.inFresh(ctx, "update-ref", "-d", "refs/heads/"+e.spec.Branch); err != nil {
		return fmt.Errorf("drop the branch of the base: %w", err)
	}
	if err := os.Rename(filepath.Join(e.layout.fresh(), ".git"), dir); err != nil {
		return fmt.Errorf("move the base's repository: %w", err)
	}
	return e.layout.removeLeftovers()
}

// goOnKeeping does what is left of making the environment's content a base; each step finds out
// by itself whether it was done before a crash.
func (e *Environment) goOnKeeping(ctx context.Context, m *made) error {
	id := m.Keeping
	published, err := e.driver.bases.Published(id)
	if err != nil {
		return err
	}
	described, err := e.driver.bases.Described(id)
	if err != nil {
		return err
	}
	if described {
		if err := e.moveIntoBase(ctx, e.driver.bases.Staging(id)); err != nil {
			return err
		}
		if err := e.driver.bases.Publish(id); err != nil {
			return err
		}
		published = true
	}
	m.Keeping = ""
	if published {
		base, err := e.driver.bases.Find(func(b *cache.Entry) bool { return b.ID == id })
		if err != nil {
			return err
		}
		m.Warm = &warm{Base: id, Commit: m.Head, Way: e.wayOn(ctx, base)}
	}
	if err := e.layout.save(m); err != nil {
		return err
	}
	return e.settle(ctx, m)
}

// moveIntoBase renames the environment's folders to where the base is made.
func (e *Environment) moveIntoBase(ctx context.Context, staging string) error {
	if _, err := process.Sweep(ctx, e.layout.tag()); err != nil {
		return fmt.Errorf("end its processes: %w", err)
	}
	tree, git := filepath.Join(staging, treeFolder), filepath.Join(staging, gitFolder)
	for from, to := range map[string]string{e.layout.work: tree, e.layout.home(): filepath.Join(staging, homeFolder)} {
		if folder.Is(to) {
			continue
		}
		if err := os.Rename(from, to); err != nil {
			return fmt.Errorf("move %s into the base: %w", from, err)
		}
	}
	if folder.Is(git) {
		if err := errors.Join(folder.Remove(filepath.Join(tree, ".git")), os.Rename(git, filepath.Join(tree, ".git"))); err != nil {
			return fmt.Errorf("replace the base's .git: %w", err)
		}
	}
	if err := os.Mkdir(e.layout.home(), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make HOME: %w", err)
	}
	return folder.SyncAll(staging)
}

// writeIgnored lists what git ignores, a folder that is ignored as a whole by its name alone. A submodule's folder is like one.
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

// readIgnored is what writeIgnored wrote, without what lies in a folder of the list: git names both
// where the folder has a .gitignore of its own.
func readIgnored(base string) (names []string, err error) {
	list, err := os.ReadFile(filepath.Join(base, ignoredFile))
	if err != nil {
		return nil, fmt.Errorf("read the base's ignored files: %w", err)
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
