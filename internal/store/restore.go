package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// Restoration is what replaced a document that could not be read.
type Restoration struct {
	// Broken is what was wrong; nil if the document was sound, or both it and its backup were missing.
	Broken error
	// Backup: the backup replaces the document; otherwise it starts anew.
	Backup bool
	// Kept is the new path of the broken file, below the project root; empty if the file was missing.
	Kept string
}

// LoadOrBackup is Load, but reads a broken document from its backup, and starts
// anew if the backup isn't sound either. It writes nothing.
func (d *Document[T]) LoadOrBackup(ctx context.Context) (T, Restoration, error) {
	value, err := d.Load(ctx)
	if !errors.Is(err, ErrBroken) && !errors.Is(err, fs.ErrNotExist) {
		return value, Restoration{}, err
	}
	f, openErr := d.store.openFolder(d.dir)
	if openErr != nil {
		return value, Restoration{}, openErr
	}
	defer f.close()
	if err = d.lost(f, err); !errors.Is(err, ErrBroken) {
		return value, Restoration{}, err
	}
	value, backup := d.fallback(f)
	return value, Restoration{Broken: err, Backup: backup}, nil
}

// Restore replaces a broken document by its backup, or by an initial one, and
// keeps the broken bytes beside it under the current time.
func (d *Document[T]) Restore(ctx context.Context) (done Restoration, err error) {
	err = d.locked(ctx, func(f *folder) error {
		_, _, err := d.read(f)
		if err = d.lost(f, err); !errors.Is(err, ErrBroken) {
			return ignoreAbsent(err)
		}
		value, backup := d.fallback(f)
		data, failed := d.store.encode(&value, indented)
		if failed != nil {
			return writeError(d.Path(), failed)
		}
		done = Restoration{Broken: err, Backup: backup}
		if done.Kept, err = d.keepCopy(f, "broken"); ignoreAbsent(err) != nil {
			return err
		}
		return d.put(f, nil, data)
	})
	return done, err
}

// BeginAnew puts an initial document at the document's name, and keeps the former file beside it under the
// current time; kept is empty if there was none.
func (d *Document[T]) BeginAnew(ctx context.Context) (kept string, err error) {
	err = d.locked(ctx, func(f *folder) (err error) {
		if kept, err = d.keepCopy(f, "former"); ignoreAbsent(err) != nil {
			return err
		}
		value := d.initial()
		return d.write(f, nil, &value)
	})
	return kept, err
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// lost treats a missing document with a sound backup as broken: starting anew never leaves that.
func (d *Document[T]) lost(f *folder, err error) error {
	if !d.backup || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, sound := d.fallback(f); !sound {
		return err
	}
	return broken(d.Path(), nil, errors.New("it is missing, but "+d.name+".bak exists"))
}

func (d *Document[T]) fallback(f *folder) (value T, backup bool) {
	if data, err := f.read(d.name + ".bak"); err == nil {
		if value, err := d.parse(data); err == nil {
			return value, true
		}
	}
	return d.begun(), false
}

// begun returns an initial document, after the one before was lost or if there was none.
func (d *Document[T]) begun() T {
	value := d.initial()
	if d.anew != nil {
		d.anew(&value)
	}
	return value
}

// keepCopy gives the file at the document's name a second name. The first one is
// left to be replaced, so that the document is never missing.
func (d *Document[T]) keepCopy(f *folder, word string) (string, error) {
	at := d.store.clock().UTC().Format("20060102T150405Z")
	for i := 1; ; i++ {
		name := fmt.Sprintf("%s.%s-%s", d.name, word, at)
		if i > 1 {
			name = fmt.Sprintf("%s-%d", name, i)
		}
		err := unix.Linkat(f.fd(), d.name, f.fd(), name, 0)
		if errors.Is(err, unix.EPERM) {
			var st unix.Stat_t
			if unix.Fstatat(f.fd(), d.name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
				// A folder can't have two names, and no reader misses it.
				err = unix.Renameat2(f.fd(), d.name, f.fd(), name, unix.RENAME_NOREPLACE)
			}
		}
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", writeError(f.join(name), err)
		}
		return f.join(name), f.dir.Sync()
	}
}
