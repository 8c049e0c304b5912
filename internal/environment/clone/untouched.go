package clone

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/folder"
)

// noteUntouched says of the clone being built that no command but ours has run in it: Restore
// need not build another then. Where commands run by other means than Exec it is never said.
func (e *Environment) noteUntouched() error {
	if e.driver.shown.Load() {
		return nil
	}
	if err := os.WriteFile(e.layout.untouched(), nil, 0o600); err != nil {
		return fmt.Errorf("note that the clone is untouched: %w", err)
	}
	return nil
}

// touch takes that back, before a command runs. It is flushed: after a power cut what the
// command wrote must not be taken for ours.
func (l layout) touch() error {
	err := os.Remove(l.untouched())
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
	_, err := os.Lstat(l.untouched())
	return err == nil
}

func (e *Environment) show() {
	e.driver.shown.Store(true)
	_ = e.layout.touch() // isAsBuilt looks at shown, too
}

// isAsBuilt reports whether the clone is what Make, or a Reset after it, left: the content of
// commit, of which no command has changed anything.
func (e *Environment) isAsBuilt(m *made, commit string) bool {
	return m.Warm == nil && e.isSettled(m, commit)
}

// isSettled reports the same of an environment that may stand on a base.
func (e *Environment) isSettled(m *made, commit string) bool {
	return e.layout.isUntouched() && !e.driver.shown.Load() && (m.Warm == nil || !m.Warm.Pending) && m.Keeping == "" && m.Head == commit &&
		folder.Is(e.layout.work)
}
