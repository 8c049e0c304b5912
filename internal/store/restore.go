package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// Restoration is what became of a document that could not be read.
type Restoration struct {
	// Broken says what was wrong; nil when the document was sound, or neither it nor its backup was there.
	Broken error
	// Backup: the backup stands in its place; otherwise the document was begun anew.
	Backup bool
	// Kept is where the broken file is now, below the project root; empty if it was gone.
	Kept string
}

// LoadOrBackup is Load, but a broken document is read from its backup, and one
// without a sound backup is as at the beginning. It writes nothing.
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

// Restore puts the backup, or the beginning, in the place of a broken document,
// whose bytes are kept beside it under the time of this moment.
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
		if done.Kept, err = d.keepAside(f, "broken"); ignoreAbsent(err) != nil {
			return err
		}
		return d.put(f, nil, data)
	})
	return done, err
}

// BeginAnew puts the beginning in the place of whatever is at the document's name, which is kept beside it
// under the time of this moment; kept is empty if nothing was there.
func (d *Document[T]) BeginAnew(ctx context.Context) (kept string, err error) {
	err = d.locked(ctx, func(f *folder) (err error) {
		if kept, err = d.keepAside(f, "former"); ignoreAbsent(err) != nil {
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

// lost makes of a document that is gone, while its backup is sound, a broken one: nobody who begins anew leaves that.
func (d *Document[T]) lost(f *folder, err error) error {
	if !d.backup || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, sound := d.fallback(f); !sound {
		return err
	}
	return broken(d.Path(), nil, errors.New("it is gone, and "+d.name+".bak is there"))
}

func (d *Document[T]) fallback(f *folder) (value T, backup bool) {
	if data, err := f.read(d.name + ".bak"); err == nil {
		if value, err := d.parse(data); err == nil {
			return value, true
		}
	}
	return d.begun(), false
}

// begun is a document that begins because the one before was lost, or because there was none.
func (d *Document[T]) begun() T {
	value := d.initial()
	if d.anew != nil {
		d.anew(&value)
	}
	return value
}

// keepAside gives what is at the document's name a second name. Its first one
// is left to be replaced, so that at no instant there is nothing at all.
func (d *Document[T]) keepAside(f *folder, word string) (string, error) {
	at := d.store.clock().UTC().Format("20060102T150405Z")
	for i := 1; ; i++ {
		name := fmt.Sprintf("%s.%s-%s", d.name, word, at)
		if i > 1 {
			name = fmt.Sprintf("%s-%d", name, i)
		}
		err := unix.Linkat(f.fd(), d.name, f.fd(), name, 0)
		if errors.Is(err, unix.EPERM) && f.isFolder(d.name) { // it has one name only, and no reader misses it
			err = unix.Renameat2(f.fd(), d.name, f.fd(), name, unix.RENAME_NOREPLACE)
		}
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", writeError(f.join(name), err)
		}
		return f.join(name), f.sync()
	}
}

func (f *folder) isFolder(name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(f.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR
}
