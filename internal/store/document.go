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

// Document is one JSON file and the rules by which it is read and written. It
// holds nothing open; make one where it is needed.
type Document[T any] struct {
	store     *Store
	dir, name string
	// former is the folder that is read while there is no file in dir; empty if there is none.
	former    string
	file, mkd fs.FileMode
	// lock is the name of its lock file in locksDir; a run's documents share the one in their folder.
	lock string
	// version is what the key "version" must say; empty for formats without one.
	version string
	// initial is what an Update starts from when there is no file; nil if it must exist.
	initial func() T
	// mend repairs on load what older writers are known to have got wrong.
	mend func(*T)
	// check is what must hold before every write and after every read.
	check func(*T) error
	// backup: what is written is written to a second file before, so that neither is ever behind what the
	// document said.
	backup bool
	// ahead writes elsewhere what must be there before the document says it; nil if nothing must.
	ahead func(data []byte) error
	// anew is what a document takes over that begins in the place of a lost one; nil if nothing.
	anew func(*T)
	// err: the document has no valid name; every use of it returns err.
	err error
}

// Path is the document's slash path below the project root.
func (d *Document[T]) Path() string { return path.Join(d.dir, d.name) }

// Load reads the document. It takes no lock: a replaced document is whole at
// every instant. One that is not there is fs.ErrNotExist.
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
// itself, and has no effect if it returns an error. Equal bytes are not written
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

func (d *Document[T]) read(f *folder) ([]byte, T, error) {
	var none T
	data, err := f.read(d.name)
	if errors.Is(err, fs.ErrNotExist) && d.former != "" {
		value, err := d.readFormer(err)
		return nil, value, err
	}
	if err != nil {
		return nil, none, err
	}
	value, err := d.parse(data)
	if err != nil {
		return data, none, broken(d.Path(), data, err)
	}
	return data, value, nil
}

// readFormer reads the document where an older program left it. That file is
// never written: the next update writes the document to its own place.
func (d *Document[T]) readFormer(absent error) (none T, err error) {
	f, err := d.store.openFolder(d.former)
	if err != nil { // no folder, a file, a link out of the project: no document of ours
		return none, absent
	}
	defer f.close()
	former := *d
	former.dir, former.former = d.former, ""
	_, value, err := former.read(f)
	if errors.Is(err, fs.ErrNotExist) {
		return none, absent
	}
	if err == nil {
		d.store.tell(d.Path(), []string{"read from " + former.Path() + ", the place of an older tool"})
	}
	return value, err
}

func (d *Document[T]) parse(data []byte) (T, error) {
	value, err := strict.Decode[T](data, d.version)
	if err != nil {
		return value, err
	}
	if d.mend != nil {
		d.mend(&value)
	}
	if d.check != nil {
		err = d.check(&value)
	}
	return value, err
}

// Remove takes the document away; one that is not there is no error.
func (d *Document[T]) Remove(ctx context.Context) error {
	return d.locked(ctx, func(f *folder) error { return f.remove(d.name) })
}

// RemoveIf takes the document away if wanted, asked under its lock, says so. One
// that is not there is not removed.
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

// put makes data the document. Equal bytes are not written again, but made durable: whoever
// wrote them may have died before they were.
func (d *Document[T]) put(f *folder, old, data []byte) error {
	if bytes.Equal(old, data) {
		if err := f.sync(); err != nil {
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
