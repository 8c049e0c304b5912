package clone

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// located gives an error about a file of the work folder the path by which a person finds it.
func (e *Environment) located(err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) && !filepath.IsAbs(at.Path) {
		at.Path = filepath.Join(e.layout.work, at.Path)
	}
	return err
}
