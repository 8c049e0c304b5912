package clone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/sandbox"
	"signalbox/internal/process"
)

// Environment is one clone and its private folder.
type Environment struct {
	driver *Driver
	spec   environment.Spec
	layout layout
	home   string // HOME as commands see it

	// These parts of the marker are kept here, because Exec has no time to read it.
	included string   // a digest of the copied ignored files
	snapshot string   // the folder of the snapshot below the environment
	shared   []string // the snapshot's folders that commands see and can't write
}

var _ environment.Environment = (*Environment)(nil)

// environment returns an environment that may not exist yet.
func (d *Driver) environment(s environment.Spec) (*Environment, error) {
	if err := Validate(s); err != nil {
		return nil, err
	}
	e := &Environment{driver: d, spec: s, layout: d.layout(s), home: sandbox.Home}
	if d.config.Unsandboxed {
		e.home = e.layout.home
	}
	return e, nil
}

// Dir implements environment.Environment.
func (e *Environment) Dir() string {
	if e.driver.config.Unsandboxed {
		return e.layout.work
	}
	return sandbox.Workspace
}

// HostFolders returns the paths of the work folder and HOME on this machine, for a caller that shows them to commands by other
// means than Exec. Restore and Snapshot may put other folders there. From now on the environment counts as changed.
func (e *Environment) HostFolders() (work, home string) {
	e.driver.shown.Store(true)
	_ = e.layout.touch() // isSettled checks shown, too
	return e.layout.work, e.layout.home
}

// Isolation implements environment.Environment.
func (e *Environment) Isolation() string {
	if e.driver.config.Unsandboxed {
		return "none"
	}
	return "bubblewrap"
}

// Private implements environment.Environment.
func (e *Environment) Private() string { return e.layout.agents }

// Exec implements process.Executor. HOME lasts as long as the environment, /tmp as long as the command. In the sandbox, a
// program that a signal ended has exit code 128 plus the signal's number.
func (e *Environment) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	if err := e.layout.touch(); err != nil {
		return process.Result{}, err
	}
	return e.enter(ctx, c, false)
}

// Look runs a command that only looks: it sees the work folder and can't write there, its HOME is an empty folder, and it
// reaches no network. The environment stays as it was, so nothing has to be rebuilt after it. Without a sandbox it is Exec.
func (e *Environment) Look(ctx context.Context, c process.Command) (process.Result, error) {
	if e.driver.config.Unsandboxed {
		return e.Exec(ctx, c)
	}
	return e.enter(ctx, c, true)
}

// enter runs a command inside, for Look if looks is set.
func (e *Environment) enter(ctx context.Context, c process.Command, looks bool) (result process.Result, err error) {
	dir, err := e.inside(c.Dir)
	if err == nil {
		err = e.layout.present()
	}
	if err != nil {
		return process.Result{}, err
	}
	n, err := e.namespace(ctx)
	if err != nil {
		return process.Result{}, err
	}
	// /tmp is new for each command because bwrap makes mount points in it (a project in /tmp, a file to read): in a folder
	// that an earlier command wrote, a symbolic link could lead it elsewhere.
	if err = os.MkdirAll(e.layout.scratch, 0o700); err != nil {
		return process.Result{}, fmt.Errorf("make temporary folder: %w", err)
	}
	scratch, err := os.MkdirTemp(e.layout.scratch, "")
	if err != nil {
		return process.Result{}, fmt.Errorf("make temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, folder.Remove(scratch)) }()
	if e.driver.config.Unsandboxed {
		c.Dir, c.Env, c.Fresh, c.Limits = dir, e.variables(scratch, c.Env), true, e.driver.config.Limits
		return e.driver.config.Exec.Exec(ctx, c)
	}
	c.Env = e.variables("/tmp", c.Env)
	m, err := e.mounts(scratch, c)
	if err != nil {
		return process.Result{}, err
	}
	if !looks {
		return e.driver.sandbox.Run(ctx, e.driver.config.Network, sandbox.View{Mounts: m, Within: n}, dir, c)
	}
	m[sandbox.Workspace] = sandbox.Mount{Kind: sandbox.ReadOnly, Source: e.layout.work}
	m[sandbox.Home] = sandbox.Mount{Kind: sandbox.Empty}
	return e.driver.sandbox.Isolated(ctx, sandbox.View{Mounts: m, Within: n}, dir, c)
}

// inside returns the folder in which a command starts: dir relative to the work folder, or a path in it.
func (e *Environment) inside(dir string) (string, error) {
	if filepath.IsAbs(dir) {
		relative, err := filepath.Rel(e.Dir(), dir)
		if err != nil {
			return "", fmt.Errorf("run in %q: %w", dir, err)
		}
		dir = relative
	}
	if dir != "" && !filepath.IsLocal(dir) {
		return "", fmt.Errorf("run in %q: want a folder of the environment", dir)
	}
	return filepath.Join(e.Dir(), dir), nil
}

// mounts returns the mounts of a command of this environment.
func (e *Environment) mounts(scratch string, c process.Command) (sandbox.Mounts, error) {
	m, err := e.driver.sandbox.Base()
	if err != nil {
		return nil, err
	}
	m["/tmp"] = sandbox.Mount{Kind: sandbox.ReadWrite, Source: scratch}
	m[sandbox.Workspace] = sandbox.Mount{Kind: sandbox.ReadWrite, Source: e.layout.work}
	m[sandbox.Home] = sandbox.Mount{Kind: sandbox.ReadWrite, Source: e.layout.home}
	err = errors.Join(
		e.driver.sandbox.Request(m, sandbox.ReadWrite, c.Writes),
		e.driver.sandbox.Request(m, sandbox.ReadOnly, e.driver.config.ReadOnly),
		e.driver.sandbox.Request(m, sandbox.ReadOnly, c.Reads))
	e.driver.sandbox.Follow(m)
	// The snapshot's dependency folders are mount points in each sandbox of the environment, so no command can put a link
	// there.
	for _, name := range e.shared {
		if place := filepath.Join(e.layout.work, name); !folder.Is(place) {
			return m, errors.Join(err, fmt.Errorf("show %s of the snapshot: its mount point was deleted: %w", name, ErrSandbox))
		}
		m[filepath.Join(sandbox.Workspace, name)] = sandbox.Mount{Kind: sandbox.ReadOnly, Source: filepath.Join(e.snapshot, treeFolder, name)}
	}
	return m, err
}

// variables returns all variables of a command: the allow-list, its folders, its own, and last the marks by which its
// processes are found again.
func (e *Environment) variables(tmp string, own []string) []string {
	list := slices.Concat(e.driver.config.Variables,
		[]string{"PATH=" + e.driver.path, "HOME=" + e.home, "TMPDIR=" + tmp},
		own,
		[]string{"SIGNALBOX_ENV_ID=" + e.spec.ID, "SIGNALBOX_ENV_DIR=" + e.Dir(), e.layout.tag})
	return sandbox.LastOfEach(list)
}

// Read implements environment.Environment.
func (e *Environment) Read(ctx context.Context, name string, limit int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !filepath.IsLocal(name) || limit < 0 {
		return nil, fmt.Errorf("read %q of the environment: want a path inside it", name)
	}
	n, err := e.namespace(ctx)
	if err != nil {
		return nil, fmt.Errorf("read %q of the environment: %w", name, err)
	}
	f, err := folder.OpenRegular(n.Path(e.layout.work), filepath.Clean(name))
	if err != nil {
		return nil, fmt.Errorf("read %q of the environment: %w", name, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read %q of the environment: %w", name, err)
	}
	return data, nil
}

// located makes the path in an error about a file of the work folder absolute, so that a person finds the file.
func (e *Environment) located(err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) && !filepath.IsAbs(at.Path) {
		at.Path = filepath.Join(e.layout.work, at.Path)
	}
	return err
}
