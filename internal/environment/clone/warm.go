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
)

// Way is the way an environment starts from a snapshot.
type Way string

const (
	// Auto is Overlay for root. For others it is Home, or Private if copying the work folder would take long, and Copy if the
	// kernel lets users make no namespaces.
	Auto Way = "auto"
	// Overlay mounts a writable layer over the snapshot: it takes near-constant time, and commands can't change the snapshot.
	// The mount is visible on this machine, and we must be root.
	Overlay Way = "overlay"
	// Private is the same in namespaces of our own, if the kernel lets users make them: only commands of the environment see
	// it. A folder of the snapshot can't be renamed there (EXDEV).
	Private Way = "private"
	// Home is Copy for the work folder and Private for HOME, where tests keep thousands of compiled files.
	Home Way = "home"
	// Shared shows the snapshot's dependency folders read-only and copies the other ignored files. A command that adds a
	// dependency fails, so Auto never chooses it.
	Shared Way = "shared"
	// Copy copies all ignored files, sharing blocks if the file system can.
	Copy Way = "copy"
	// Off keeps nothing.
	Off Way = "off"
)

// snapshotVersion is the version of the content of snapshots and of the ways to use them.
const snapshotVersion = "3"

// warm is the snapshot below the environment, as the marker has it. While it is there the snapshot is not deleted.
type warm struct {
	// Snapshot is the id of the snapshot, Commit the commit of its tracked files and of the history in its .git.
	Snapshot string `json:"base"`
	Commit   string `json:"commit"`
	Way      Way    `json:"way"`
	// Bare: the environment sees only the snapshot's tracked files.
	Bare bool `json:"bare,omitempty"`
	// Pending: the content is not yet that of the marker's head.
	Pending bool `json:"pending,omitempty"`
	// Shared are folders in the root of the snapshot that commands see and can't write.
	Shared []string `json:"shared,omitempty"`
}

// isLayered reports whether the work folder, and with it HOME, is a layer over the snapshot's.
func (w *warm) isLayered() bool { return w != nil && (w.Way == Overlay || w.Way == Private) }

// isHidden reports whether layers are mounted where only the environment's commands see them.
func (w *warm) isHidden() bool { return w != nil && (w.Way == Private || w.Way == Home) }

// way returns the way in which this driver uses snapshots.
func (e *Environment) way(ctx context.Context) Way {
	d := e.driver
	switch wanted := d.config.Warm; {
	case d.config.Cache == 0 || wanted == Off:
		return Off
	case d.config.Unsandboxed:
		return Copy
	case wanted == "" || wanted == Auto:
		d.tryOnce.Do(func() { d.overlays = e.tryOverlays(ctx) })
		return d.overlays
	default:
		return wanted
	}
}

// copiedFiles is the number of files up to which Auto copies the work folder: that takes a second or two, and every process can
// see and rename them.
const copiedFiles = 10_000

// wayOn returns the way to use one snapshot.
func (e *Environment) wayOn(ctx context.Context, snapshot *cache.Entry) Way {
	way, wanted := e.way(ctx), e.driver.config.Warm
	if way == Private && wanted != Private && snapshot != nil && snapshot.Files <= copiedFiles {
		return Home
	}
	return way
}

// choose notes the most recently used snapshot that suits in the marker, if there is one.
func (e *Environment) choose(ctx context.Context, m *made, suits func(*cache.Entry) bool, bare bool) error {
	if e.way(ctx) == Off {
		return nil
	}
	submodules, err := e.wanted(ctx, m.Head) // which may take a while, so before the lock
	if err != nil {
		return err
	}
	unlock, err := e.driver.snapshots.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	snapshot, err := e.driver.snapshots.Find(func(s *cache.Entry) bool {
		return s.Dir == e.Dir() && s.Home == e.home && suits(s)
	})
	if err != nil || snapshot == nil {
		return err
	}
	way := e.wayOn(ctx, snapshot)
	if bare && way == Home {
		return nil
	}
	m.Warm = &warm{Snapshot: snapshot.ID, Commit: snapshot.Commit, Way: way, Bare: bare}
	if m.Submodules, err = e.driver.readSubmodules(m.Warm); err != nil {
		return err
	}
	m.Warm.Pending = snapshot.Commit != m.Head || !slices.Equal(m.Submodules, submodules)
	if err := e.layout.save(m); err != nil {
		return err
	}
	return e.driver.snapshots.Touch(snapshot.ID)
}

// settle makes the environment what the marker says, as far as it isn't. If the snapshot can't be used it builds a clone of its
// own.
func (e *Environment) settle(ctx context.Context, m *made) error {
	err := e.settleAsNoted(ctx, m)
	if err == nil || ctx.Err() != nil || m.Warm == nil || !m.Warm.Pending && !errors.Is(err, errNoSnapshot) && !errors.Is(err, folder.ErrSource) {
		return err
	}
	m.Warm = nil
	return e.rebuild(ctx, m)
}

// errNoSnapshot: the snapshot was deleted, or its content has changed.
var errNoSnapshot = errors.New("the snapshot cannot be used")

func (e *Environment) settleAsNoted(ctx context.Context, m *made) error {
	if e.isHalfCleared(m) {
		if err := e.clear(ctx); err != nil {
			return err
		}
	}
	if m.Warm.isLayered() {
		if err := e.stackAgain(ctx, m); err != nil {
			return err
		}
	} else if there, err := findFolder(e.layout.work); err != nil {
		return err
	} else if !there {
		if err := e.build(ctx, m); err != nil {
			return err
		}
	}
	e.noteMarker(m)
	if m.Warm != nil && m.Warm.Way == Home {
		if err := e.stack(ctx, m); err != nil {
			return err
		}
	} else if !m.Warm.isLayered() || m.Warm.Bare {
		if err := e.layout.writeProfiles(); err != nil {
			return err
		}
	}
	if m.Warm == nil || !m.Warm.Pending {
		return nil
	}
	tree, err := e.driver.config.Repo.TreeOf(ctx, m.Head)
	if err != nil {
		return err
	}
	submodules, err := e.wanted(ctx, m.Head)
	if err != nil {
		return err
	}
	if !e.restored(ctx, m.Head, tree) {
		return fmt.Errorf("bring snapshot %s to %s: %w", m.Warm.Snapshot, m.Head, errNoSnapshot)
	}
	if err := e.place(ctx, m, e.layout.work, submodules); err != nil {
		return err
	}
	m.Warm.Pending = false
	return e.layout.save(m)
}

// isHalfCleared reports whether a Restore was cut off before it had cleared an environment on a snapshot. The work folder is still
// mounted, or empty, and neither is the clone that the marker promises.
func (e *Environment) isHalfCleared(m *made) bool {
	if !m.Warm.isLayered() && folder.Is(e.layout.treeLayer.Path) {
		return true
	}
	_, err := os.Lstat(e.layout.holders)
	return err == nil && !m.Warm.isHidden()
}

// stackAgain mounts the environment, and starts anew if a user deleted all its files: a mount point itself can't be deleted, so an
// emptied folder counts as deleted.
func (e *Environment) stackAgain(ctx context.Context, m *made) error {
	there, err := folder.Mounted(e.layout.work)
	if err != nil {
		return err
	}
	if !there && e.layout.isUntouched() && folder.Is(filepath.Join(e.layout.work, ".git")) { // a clone that Restore found as it was built
		if err := errors.Join(e.clear(ctx), e.layout.touch()); err != nil {
			return err
		}
	}
	if m.Warm.Way != Private || !e.isGone() {
		if err := e.stack(ctx, m); err != nil {
			return err
		}
		n, err := e.namespace(ctx)
		if err != nil {
			return err
		}
		held, err := os.ReadDir(n.Path(e.layout.work))
		if err != nil || len(held) > 0 {
			return err
		}
	}
	m.Warm.Pending = true
	if err := errors.Join(e.beginSubmodules(m), e.layout.save(m), e.driver.retire(ctx, e.layout)); err != nil {
		return err
	}
	return e.stack(ctx, m)
}

// noteMarker remembers the parts of the marker that Exec and Fingerprint need.
func (e *Environment) noteMarker(m *made) {
	e.included, e.shared, e.snapshot = m.Included, nil, ""
	if m.Warm != nil {
		e.shared, e.snapshot = m.Warm.Shared, e.driver.snapshots.Path(m.Warm.Snapshot)
	}
}

// borrow starts a new environment from the tracked files of the snapshot used last, which are almost always a better start than
// none. It reports whether there was one.
func (e *Environment) borrow(ctx context.Context, m *made) (bool, error) {
	if way := e.way(ctx); way != Overlay && way != Private {
		return false, nil
	}
	suits := func(s *cache.Entry) bool { return e.continues(ctx, s, m.Head) }
	if err := e.choose(ctx, m, suits, true); err != nil || m.Warm == nil {
		return false, err
	}
	if err := e.settle(ctx, m); err != nil {
		return true, err
	}
	return true, e.noteUntouched()
}
