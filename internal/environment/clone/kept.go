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
)

// dependencyFolders are filled by package managers and only read by everything else.
var dependencyFolders = []string{"node_modules", "bower_components", ".venv", "venv", "vendor", "Pods", "deps"}

// addKept copies the ignored files of the snapshot, and HOME if that is no layer, into a clone that no command has written in and
// whose work folder is no overlay. The commit's own files stay.
func (e *Environment) addKept(ctx context.Context, m *made, into string) error {
	if m.Warm == nil {
		return nil
	}
	snapshot := e.driver.snapshots.Path(m.Warm.Snapshot)
	names, err := readIgnored(snapshot)
	if err != nil {
		return errors.Join(errNoSnapshot, err)
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
			return fmt.Errorf("copy %q of the snapshot: %w", name, err)
		}
		copied = append(copied, name)
	}
	if err := folder.Copy(ctx, filepath.Join(snapshot, treeFolder), into, copied); err != nil || m.Warm.Way == Home {
		return err
	}
	return folder.Copy(ctx, filepath.Join(snapshot, homeFolder), e.layout.home, nil)
}

// carryOver shows the whole snapshot to an environment that uses only its tracked files and in which no command has run: then
// Restore need not rebuild it. It reports whether it could. If it couldn't, or was cut off, the environment counts as touched,
// and Restore rebuilds it.
func (e *Environment) carryOver(ctx context.Context, m *made, commit, key string) (bool, error) {
	if key == "" || !m.Warm.isLayered() || !m.Warm.Bare || !e.isSettled(m, commit) {
		return false, nil
	}
	next := *m
	next.Warm, next.Adopted = nil, nil
	if err := errors.Join(e.layout.touch(), e.driver.letGo(ctx, e.layout), overlay.Unmount(e.layout.work), e.emptyHome()); err != nil {
		return false, err
	}
	suits := func(s *cache.Entry) bool { return s.Key == key && s.ID == m.Warm.Snapshot }
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
	e.noteMarker(&next)
	stray, err := e.changed(ctx, commit, strayScript)
	if err != nil || len(stray) > 0 { // commit doesn't ignore all files that the snapshot's commit ignored
		return false, err
	}
	e.noteGit(ctx, e.layout.work, commit)
	next.Warm.Pending = false
	*m = next
	return true, errors.Join(e.layout.save(m), e.noteUntouched())
}

// showIgnored undoes what newTreeLayer did for a bare environment.
func (e *Environment) showIgnored(m *made) error {
	if err := e.excludeAdopted(m, m.Brought); err != nil {
		return err
	}
	excludes, err := os.ReadFile(filepath.Join(e.layout.importGit, "info", "exclude"))
	if err != nil {
		return err
	}
	upper, err := os.OpenRoot(e.layout.treeLayer.Upper())
	if err != nil {
		return err
	}
	defer func() { _ = upper.Close() }()
	names, err := readIgnored(e.driver.snapshots.Path(m.Warm.Snapshot))
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
