package clone

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/overlay"
)

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
