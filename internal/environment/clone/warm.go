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

// Way is how an environment is put on a base.
type Way string

const (
	// Auto is Overlay for root, else Copy, or Private where that would take long.
	Auto Way = "auto"
	// Overlay lays a writable layer over the base: near-constant time, and nothing that a
	// command does reaches the base. It is mounted on this machine, for which we must be root.
	Overlay Way = "overlay"
	// Private is the same in namespaces of our own, for which the kernel must let users make some:
	// only commands of the environment see it. A folder of the base cannot be renamed there (EXDEV).
	Private Way = "private"
	// Shared shows the base's dependency folders read-only and copies what else git ignores.
	// What wants to add a dependency fails, so it must be asked for.
	Shared Way = "shared"
	// Copy copies everything that git ignores, sharing blocks where the file system can.
	Copy Way = "copy"
	// Off keeps nothing.
	Off Way = "off"
)

// baseVersion is of what a base consists of and how environments are put on it.
const baseVersion = "2"

// warm says in the marker on which base the environment stands. As long as it is there the base
// is not deleted.
type warm struct {
	// Base is the id of the base, Commit what its tracked files are and its .git has the history of.
	Base   string `json:"base"`
	Commit string `json:"commit"`
	Way    Way    `json:"way"`
	// Bare: of the base only the tracked files are shown.
	Bare bool `json:"bare,omitempty"`
	// Pending: the content has not been brought to the marker's head yet.
	Pending bool `json:"pending,omitempty"`
	// Shared are folders in the root of the base that commands see and cannot write.
	Shared []string `json:"shared,omitempty"`
}

// isLayered reports whether the environment's folders are layers over those of its base.
func (w *warm) isLayered() bool { return w != nil && (w.Way == Overlay || w.Way == Private) }

// way is how the environment's driver puts environments on bases.
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

// copiedFiles is how many files Auto rather copies: that takes a second or two, and everybody sees
// and renames them as they like.
const copiedFiles = 10_000

// wayOn is how the environment is put on one base.
func (e *Environment) wayOn(ctx context.Context, base *cache.Entry) Way {
	way, wanted := e.way(ctx), e.driver.config.Warm
	if way == Private && wanted != Private && base != nil && base.Files <= copiedFiles {
		return Copy
	}
	return way
}

// choose notes in the marker on which base to stand, if one suits.
func (e *Environment) choose(ctx context.Context, m *made, suits func(*cache.Entry) bool, bare bool) error {
	if e.way(ctx) == Off {
		return nil
	}
	submodules, err := e.wanted(ctx, m.Head) // which may take a while, so before the lock
	if err != nil {
		return err
	}
	unlock, err := e.driver.bases.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	base, err := e.driver.bases.Find(func(b *cache.Entry) bool {
		return b.Version == baseVersion && b.Dir == e.Dir() && b.Home == e.home() && suits(b)
	})
	if err != nil || base == nil {
		return err
	}
	way := e.wayOn(ctx, base)
	if bare && way == Copy {
		return nil
	}
	m.Warm = &warm{Base: base.ID, Commit: base.Commit, Way: way, Bare: bare}
	if m.Submodules, err = e.driver.ofBase(m.Warm); err != nil {
		return err
	}
	m.Warm.Pending = base.Commit != m.Head || !slices.Equal(m.Submodules, submodules)
	if err := e.layout.save(m); err != nil {
		return err
	}
	return e.driver.bases.Touch(base.ID)
}

// settle makes of the environment what the marker says it is; what is already so stays. A base
// that does not carry it is given up for a clone of its own.
func (e *Environment) settle(ctx context.Context, m *made) error {
	err := e.settleOnBase(ctx, m)
	if err == nil || ctx.Err() != nil || m.Warm == nil || !m.Warm.Pending && !errors.Is(err, errNoBase) && !errors.Is(err, folder.ErrSource) {
		return err
	}
	m.Warm = nil
	return e.rebuild(ctx, m)
}

// errNoBase: the base is gone, or its content is not what it was kept as.
var errNoBase = errors.New("the base does not carry the environment")

func (e *Environment) settleOnBase(ctx context.Context, m *made) error {
	if e.isHalfCleared(m) {
		if err := e.clear(ctx); err != nil {
			return err
		}
	}
	if m.Warm.isLayered() {
		if err := e.makeRoom(ctx); err != nil {
			return err
		}
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
	e.stands(m)
	if !m.Warm.isLayered() || m.Warm.Bare {
		if err := e.layout.layProfiles(); err != nil {
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
		return fmt.Errorf("bring base %s to %s: %w", m.Warm.Base, m.Head, errNoBase)
	}
	if err := e.place(ctx, m, e.layout.work, submodules); err != nil {
		return err
	}
	m.Warm.Pending = false
	return e.layout.save(m)
}

// isHalfCleared reports whether a renewal was cut off before it had cleared what stood on a base.
// Its work folder is still mounted, or empty, and neither is the clone that the marker promises.
func (e *Environment) isHalfCleared(m *made) bool {
	if !m.Warm.isLayered() && folder.Is(e.layout.treeLayer().Path) {
		return true
	}
	_, err := os.Lstat(e.layout.holders())
	return err == nil && (m.Warm == nil || m.Warm.Way != Private)
}

// makeRoom takes away a clone that Restore found as it was built, where the layers are to be.
func (e *Environment) makeRoom(ctx context.Context) error {
	if there, err := folder.Mounted(e.layout.work); err != nil || there || !e.layout.isUntouched() || !folder.Is(filepath.Join(e.layout.work, ".git")) {
		return err
	}
	return errors.Join(e.clear(ctx), e.layout.touch())
}

// stackAgain stacks, and begins anew where somebody deleted all there was: a mount point itself
// cannot be deleted, so an emptied folder is what a deleted one is elsewhere.
func (e *Environment) stackAgain(ctx context.Context, m *made) error {
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

// stands notes what Exec and Fingerprint need to know of the marker.
func (e *Environment) stands(m *made) {
	e.included, e.shared, e.base = m.Included, nil, ""
	if m.Warm != nil {
		e.shared, e.base = m.Warm.Shared, e.driver.bases.Path(m.Warm.Base)
	}
}

// borrow puts a new environment on the tracked files of the base that was used last, which are
// almost always nearer to its commit than nothing. It reports whether there was one.
func (e *Environment) borrow(ctx context.Context, m *made) (bool, error) {
	if way := e.way(ctx); way != Overlay && way != Private {
		return false, nil
	}
	suits := func(b *cache.Entry) bool { return e.continues(ctx, b, m.Head) }
	if err := e.choose(ctx, m, suits, true); err != nil || m.Warm == nil {
		return false, err
	}
	if err := e.settle(ctx, m); err != nil {
		return true, err
	}
	return true, e.noteUntouched()
}
