package clone

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/overlay"
	"signalbox/internal/environment/clone/sandbox"
)

// dependencyFolders are filled by package managers and only read by everything else.
var dependencyFolders = []string{"node_modules", "bower_components", ".venv", "venv", "vendor", "Pods", "deps"}

// addKept gives a clone that no command has written in what the base's has of ignored files, and HOME, where it is put on
// a base without an overlay. What the commit has itself stays.
func (e *Environment) addKept(ctx context.Context, m *made, into string) error {
	if m.Warm == nil {
		return nil
	}
	base := e.driver.bases.Path(m.Warm.Base)
	names, err := readIgnored(base)
	if err != nil {
		return errors.Join(errNoBase, err)
	}
	to, err := os.OpenRoot(into)
	if err != nil {
		return fmt.Errorf("open the new clone: %w", err)
	}
	defer func() { _ = to.Close() }()
	m.Warm.Shared = nil
	copied := []string{}
	for _, name := range names {
		if m.Warm.Way == Shared && slices.Contains(dependencyFolders, name) && to.Mkdir(name, 0o755) == nil {
			m.Warm.Shared = append(m.Warm.Shared, name)
			continue
		}
		if err := to.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("copy %q of the base: %w", name, err)
		}
		copied = append(copied, name)
	}
	return errors.Join(
		folder.Copy(ctx, filepath.Join(base, treeFolder), into, copied),
		folder.Copy(ctx, filepath.Join(base, homeFolder), e.layout.home(), nil))
}

// showShared lays the base's dependency folders over the places that were made for them. In each
// sandbox of the environment they are mount points, so no command can put a link there.
func (e *Environment) showShared(m sandbox.Mounts) error {
	for _, name := range e.shared {
		if place := filepath.Join(e.layout.work, name); !folder.Is(place) {
			return fmt.Errorf("show %s of the base: the folder made for it is gone: %w", name, ErrSandbox)
		}
		m[filepath.Join(sandbox.Workspace, name)] = sandbox.Mount{Kind: sandbox.ReadOnly, Source: filepath.Join(e.base, treeFolder, name)}
	}
	return nil
}

// carryOver shows all of the base to an environment that stands on its tracked files alone and in which no command has
// run: the content that Restore promises is there already. It reports whether it could; where it could not, or was cut off,
// the environment counts as touched, and Restore makes it anew.
func (e *Environment) carryOver(ctx context.Context, m *made, commit, key string) (bool, error) {
	if key == "" || !m.Warm.isLayered() || !m.Warm.Bare || !e.isSettled(m, commit) {
		return false, nil
	}
	next := *m
	next.Warm, next.Adopted = nil, nil
	if err := errors.Join(e.layout.touch(), e.driver.letGo(ctx, e.layout), overlay.Unmount(e.layout.work), e.emptyHome()); err != nil {
		return false, err
	}
	suits := func(b *cache.Entry) bool { return b.Key == key && b.ID == m.Warm.Base }
	if err := e.choose(ctx, &next, suits, false); err != nil || next.Warm == nil || next.Warm.Way != m.Warm.Way || !slices.Equal(next.Submodules, m.Submodules) {
		return false, err
	}
	next.Warm.Pending = true
	if err := e.layout.save(&next); err != nil {
		return false, err
	}
	if err := errors.Join(e.showIgnored(&next), e.stack(ctx, &next)); err != nil {
		return false, err
	}
	e.stands(&next)
	stray, err := e.changed(ctx, commit, strayScript)
	if err != nil || len(stray) > 0 { // what the base ignored is none of what commit ignores
		return false, err
	}
	e.noteGit(ctx, commit)
	next.Warm.Pending = false
	*m = next
	return true, errors.Join(e.layout.save(m), e.noteUntouched())
}

// showIgnored takes back what newTreeLayer did for a bare one.
func (e *Environment) showIgnored(m *made) error {
	base := e.driver.bases.Path(m.Warm.Base)
	if err := e.excludeAdopted(m, m.Brought); err != nil {
		return err
	}
	excludes, err := os.ReadFile(filepath.Join(e.layout.importGit(), "info", "exclude"))
	if err != nil {
		return err
	}
	upper, err := os.OpenRoot(e.layout.treeLayer().Upper())
	if err != nil {
		return err
	}
	defer func() { _ = upper.Close() }()
	names, err := readIgnored(base)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := overlay.Unhide(upper, name, m.Warm.Way == Private); err != nil {
			return err
		}
	}
	return upper.WriteFile(".git/info/exclude", excludes, 0o644)
}
