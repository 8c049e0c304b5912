package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"signalbox/internal/store/strict"
)

// Document is one JSON file and the rules for reading and writing it. It holds
// nothing open; make one where it is needed.
type Document[T any] struct {
	store     *Store
	dir, name string
	// former is the folder to read while there is no file in dir; empty if there is none.
	former    string
	file, mkd fs.FileMode
	// lock is the name of its lock file in locksDir; a run's documents share the one in their folder.
	lock string
	// version is the required value of the key "version"; empty for formats without one.
	version string
	// initial makes the value that an Update starts from when there is no file; nil if it must exist.
	initial func() T
	// fix corrects on load what older writers are known to have got wrong.
	fix func(*T)
	// check must hold before every write and after every read.
	check func(*T) error
	// backup: every write goes to a second file first, so that the backup is never behind the document.
	backup bool
	// ahead writes elsewhere what must be on disk before the document says it; nil if nothing must.
	ahead func(data []byte) error
	// anew restores into a new document what outlived a lost one; nil if nothing does.
	anew func(*T)
	// err: the document has no valid name; every use of it returns err.
	err error
}

// Path returns the document's slash path below the project root.
func (d *Document[T]) Path() string { return path.Join(d.dir, d.name) }

// Load reads the document. It takes no lock: a replaced document is whole at
// every instant. A missing one is fs.ErrNotExist.
func (d *Document[T]) Load(ctx context.Context) (T, error) {
	var none T
	if err := errors.Join(d.err, ctx.Err()); err != nil {
		return none, err
	}
	f, err := d.store.openFolder(d.dir)
	if err != nil {
		return none, err
	}
	defer f.close()
	_, value, err := d.read(f)
	return value, err
}

// Update changes the document under its lock, so that no other update is lost,
// and returns when the change is durable. change must not use this document
// itself, and has no effect if it returns an error. Equal bytes aren't written
// again.
func (d *Document[T]) Update(ctx context.Context, change func(*T) error) error {
	return d.locked(ctx, func(f *folder) error {
		old, value, err := d.read(f)
		if errors.Is(err, fs.ErrNotExist) && d.initial != nil {
			old, value, err = nil, d.begun(), nil
		}
		if err != nil {
			return err
		}
		if err := change(&value); err != nil {
			return err
		}
		return d.write(f, old, &value)
	})
}

// read returns the document's bytes and its value. If an older program left it in
// the former folder, there are no bytes: that file is never written, and the next
// update writes the document to its own place.
func (d *Document[T]) read(f *folder) (data []byte, value T, err error) {
	data, err = f.read(d.name)
	if errors.Is(err, fs.ErrNotExist) && d.former != "" {
		old, openErr := d.store.openFolder(d.former)
		if openErr != nil { // no folder, a file, a link out of the project: no document of ours
			return nil, value, err
		}
		defer old.close()
		former := *d
		former.dir, former.former = d.former, ""
		_, found, formerErr := former.read(old)
		if errors.Is(formerErr, fs.ErrNotExist) {
			return nil, value, err
		}
		if formerErr == nil {
			d.store.reportFixed(d.Path(), []string{"read from " + former.Path() + ", the place of an older tool"})
		}
		return nil, found, formerErr
	}
	if err != nil {
		return nil, value, err
	}
	parsed, err := d.parse(data)
	if err != nil {
		return data, value, broken(d.Path(), data, err)
	}
	return data, parsed, nil
}

func (d *Document[T]) parse(data []byte) (T, error) {
	value, err := strict.Decode[T](data, d.version)
	if err != nil {
		return value, err
	}
	if d.fix != nil {
		d.fix(&value)
	}
	if d.check != nil {
		err = d.check(&value)
	}
	return value, err
}

// Remove removes the document; a missing one is no error.
func (d *Document[T]) Remove(ctx context.Context) error {
	return d.locked(ctx, func(f *folder) error { return f.remove(d.name) })
}

// RemoveIf removes the document if wanted, called under its lock, returns true,
// and reports whether it did. It leaves a missing one alone.
func (d *Document[T]) RemoveIf(ctx context.Context, wanted func(*T) bool) (removed bool, err error) {
	err = d.locked(ctx, func(f *folder) error {
		_, value, err := d.read(f)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !wanted(&value) {
			return err
		}
		removed = true
		return f.remove(d.name)
	})
	return removed && err == nil, err
}

func (d *Document[T]) write(f *folder, old []byte, value *T) error {
	if d.check != nil {
		if err := d.check(value); err != nil {
			return fmt.Errorf("update %s: %w", d.Path(), err)
		}
	}
	data, err := d.store.encode(value, indented)
	if err != nil {
		return writeError(d.Path(), err)
	}
	return d.put(f, old, data)
}

// put makes data the document. It doesn't write equal bytes again, but makes them durable:
// their writer may have died before they were.
func (d *Document[T]) put(f *folder, old, data []byte) error {
	if bytes.Equal(old, data) {
		if err := f.dir.Sync(); err != nil {
			return writeError(d.Path(), err)
		}
		return nil
	}
	if d.ahead != nil {
		if err := d.ahead(data); err != nil {
			return err
		}
	}
	if d.backup {
		if err := f.put(d.name+".bak", data, d.file); err != nil {
			return err
		}
	}
	return f.put(d.name, data, d.file)
}

func (d *Document[T]) locked(ctx context.Context, act func(*folder) error) error {
	if d.err != nil {
		return d.err
	}
	open := d.store.openFolder
	if d.initial != nil {
		open = func(name string) (*folder, error) { return d.store.makeFolder(name, d.mkd) }
	}
	f, err := open(d.dir)
	if err != nil {
		return err
	}
	defer f.close()
	lock := &fileLock{folder: f, name: runLock, perm: publicFile}
	if d.lock != "" {
		lock = &fileLock{folder: d.store.locks, name: d.lock, perm: privateFile}
	}
	defer lock.close()
	if err := lock.acquire(ctx); err != nil {
		return fmt.Errorf("lock %s: %w", d.Path(), err)
	}
	return act(f)
}
