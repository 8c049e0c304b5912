package clone

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/sandbox"
)

// dependencyFolders are filled by package managers and only read by everything else.
var dependencyFolders = []string{"node_modules", "bower_components", ".venv", "venv", "vendor", "Pods", "deps"}

// addKept gives a clone that no command has written in what the base's has of ignored files, and HOME, where it is put on
// a base without an overlay. What the commit has itself stays.
func (e *Environment) addKept(ctx context.Context, m *made, into string) error {
	if m.Warm == nil {
		return nil
	}
	base := e.driver.bases.Path(m.Warm.Base)
	names, err := readIgnored(base)
	if err != nil {
		return errors.Join(errNoBase, err)
	}
	from, err := os.OpenRoot(filepath.Join(base, treeFolder))
	if err != nil {
		return errors.Join(errNoBase, err)
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenRoot(into)
	if err != nil {
		return fmt.Errorf("open the new clone: %w", err)
	}
	defer func() { _ = to.Close() }()
	m.Warm.Shared = nil
	c := folder.NewCopier(ctx)
	for _, name := range names {
		if m.Warm.Way == Shared && slices.Contains(dependencyFolders, name) && to.Mkdir(name, 0o755) == nil {
			m.Warm.Shared = append(m.Warm.Shared, name)
			continue
		}
		if err := to.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("copy %q of the base: %w", name, err)
		}
		c.Entry(from, to, name)
	}
	return errors.Join(c.Wait(), folder.Copy(ctx, filepath.Join(base, homeFolder), e.layout.home()))
}

// showShared lays the base's dependency folders over the places that were made for them. In each
// sandbox of the environment they are mount points, so no command can put a link there.
func (e *Environment) showShared(m sandbox.Mounts) error {
	for _, name := range e.shared {
		if place := filepath.Join(e.layout.work, name); !folder.Is(place) {
			return fmt.Errorf("show %s of the base: the folder made for it is gone: %w", name, ErrSandbox)
		}
		m[filepath.Join(sandbox.Workspace, name)] = sandbox.Mount{Kind: sandbox.ReadOnly, Source: filepath.Join(e.base, treeFolder, name)}
	}
	return nil
}
