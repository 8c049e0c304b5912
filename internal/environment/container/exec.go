package container

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/environment/container/engine"
	"signalbox/internal/environment/execserver"
	"signalbox/internal/process"
)

// errBusy: the container would have to be replaced while another process may be using it.
var errBusy = errors.New("the container is in use and cannot be given more to show")

// Exec implements process.Executor. HOME lasts as long as the environment, the temporary folder as long as the
// command, and the rest of the container's own file system until Restore. If the container is gone, or shows
// an older work folder, Exec first starts it again.
func (e *Environment) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	dir, err := inside(c.Dir)
	if err != nil {
		return process.Result{}, err
	}
	missing, err := e.requests(c.Reads, c.Writes)
	if err != nil {
		return process.Result{}, err
	}
	if len(missing) > 0 {
		if err := e.show(ctx, missing); err != nil {
			return process.Result{}, hint(err)
		}
	}
	c.Dir, c.Reads, c.Writes = dir, nil, nil
	c.Env = lastOfEach(slices.Concat([]string{"PATH=" + defaultPath}, e.state.Env, e.driver.config.Variables,
		[]string{"HOME=" + home}, c.Env, []string{"SIGNALBOX_ENV_ID=" + e.id, "SIGNALBOX_ENV_DIR=" + e.Dir()}))
	result, err := e.connected(ctx, c, func(c process.Command) (process.Result, error) {
		result, err := e.exec(ctx, c)
		if unusable(err) {
			if err := e.revive(ctx); err != nil {
				return process.Result{}, err
			}
			result, err = e.exec(ctx, c)
		}
		return result, err
	})
	return result, hint(err)
}

// unusable reports whether an error means that nothing was started and the container needs a restart.
func unusable(err error) bool {
	return errors.Is(err, execserver.ErrUnavailable) || errors.Is(err, execserver.ErrStale)
}

func (e *Environment) exec(ctx context.Context, c process.Command) (process.Result, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.server == nil {
		return process.Result{}, execserver.ErrUnavailable
	}
	result, err := e.server.Exec(ctx, c)
	if errors.Is(err, execserver.ErrLost) {
		// Nothing inside may outlive the command, even a stopped one.
		_, errRestart := e.start(context.WithoutCancel(ctx))
		err = errors.Join(err, errRestart)
	}
	return result, err
}

// revive starts the container again, or makes it, unless another command has done so.
func (e *Environment) revive(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.server != nil && e.server.Ready(ctx) == nil {
		return nil // another command was first
	}
	e.driver.config.Logger.Info("look after container", "environment", e.id)
	return e.bringUp(ctx)
}

// show replaces the container by one that shows further host paths. It first saves the container's own file
// system. The paths stay shown, so each costs this once.
func (e *Environment) show(ctx context.Context, missing []engine.Mount) error {
	if e.guest || !e.mu.TryLock() {
		return fmt.Errorf("show %q: %w", missing[0].Source, errBusy)
	}
	defer e.mu.Unlock()
	image, err := e.saved(ctx)
	if err != nil {
		return err
	}
	e.state.Image = image
	for _, m := range missing {
		e.state.Shown = slices.DeleteFunc(e.state.Shown, func(old engine.Mount) bool { return old.Target == m.Target })
		e.state.Shown = append(e.state.Shown, m)
	}
	if err := e.save(); err != nil {
		return err
	}
	return e.bringUp(ctx)
}

// hideGone drops shown host paths that no longer exist: a container with one could not be made. The caller
// holds e.mu.
func (e *Environment) hideGone(ctx context.Context) error {
	gone := func(m engine.Mount) bool {
		_, err := os.Stat(m.Source)
		return errors.Is(err, fs.ErrNotExist)
	}
	if !slices.ContainsFunc(e.state.Shown, gone) {
		return nil
	}
	if e.guest { // the container's owner replaces it
		e.state.Shown = slices.DeleteFunc(e.state.Shown, gone)
		return nil
	}
	image, err := e.saved(ctx)
	if err != nil {
		return err
	}
	e.state.Image, e.state.Shown = image, slices.DeleteFunc(e.state.Shown, gone)
	return e.save()
}

// inside returns the folder where a command starts: its Dir is relative to the work folder, or a path in it.
func inside(dir string) (string, error) {
	relative := dir
	if path.IsAbs(dir) {
		if !within(path.Clean(dir), workspace) {
			return "", fmt.Errorf("run in %q: want a folder of the environment", dir)
		}
		relative = strings.TrimPrefix(path.Clean(dir), workspace)
	}
	relative = strings.TrimPrefix(relative, "/")
	if relative != "" && !filepath.IsLocal(relative) {
		return "", fmt.Errorf("run in %q: want a folder of the environment", dir)
	}
	return path.Join(workspace, relative), nil
}

// lastOfEach drops assignments that a later one replaces.
func lastOfEach(all []string) (list []string) {
	seen := map[string]bool{}
	for _, entry := range slices.Backward(all) {
		name, _, _ := strings.Cut(entry, "=")
		if !seen[name] {
			seen[name] = true
			list = append(list, entry)
		}
	}
	slices.Reverse(list)
	return list
}

// defaultPath is PATH in an image without one.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
