package clone

import (
	"context"
	"fmt"
	"io/fs"

	"signalbox/internal/environment"
)

// Attach implements environment.Driver.
func (d *Driver) Attach(_ context.Context, s environment.Spec) (environment.Environment, error) {
	if err := validate(s); err != nil {
		return nil, err
	}
	e := &Environment{driver: d, spec: s, layout: d.layout(s)}
	m, err := e.layout.load()
	if err != nil {
		return nil, err
	}
	there, err := findFolder(e.layout.work)
	if err == nil && (m == nil || !there) {
		err = fmt.Errorf("environment %s: %w", s.ID, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	e.stands(m)
	return e, nil
}
