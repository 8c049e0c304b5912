package store

import (
	"context"
	"errors"
	"io/fs"
)

// Update changes the document under its lock, so that no other update is lost,
// and returns when the change is durable. change must not use this document
// itself, and has no effect if it returns an error. Equal bytes are not written
// again.
func (d *Document[T]) Update(ctx context.Context, change func(*T) error) error {
	return d.locked(ctx, func(f *folder) error {
		old, value, err := d.begin(f)
		if err != nil {
			return err
		}
		if err := change(&value); err != nil {
			return err
		}
		return d.write(f, old, &value)
	})
}

// begin reads the document, or makes the one that an update starts from.
func (d *Document[T]) begin(f *folder) ([]byte, T, error) {
	data, value, err := d.read(f)
	if errors.Is(err, fs.ErrNotExist) && d.initial != nil {
		return nil, d.begun(), nil
	}
	return data, value, err
}
