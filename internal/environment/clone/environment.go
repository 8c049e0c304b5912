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

	// What the marker says, for what has no time to read it.
	included string   // a digest of the files that were brought along
	base     string   // the folder of the base that the environment stands on
	shared   []string // its folders that commands see and cannot write
}

var _ environment.Environment = (*Environment)(nil)

// Dir implements environment.Environment.
func (e *Environment) Dir() string {
	if e.driver.config.Unsandboxed {
		return e.layout.work
	}
	return sandbox.Workspace
}

// home is HOME as commands see it.
func (e *Environment) home() string {
	if e.driver.config.Unsandboxed {
		return e.layout.home()
	}
	return sandbox.Home
}

// HostDir and HostHome are where the work folder and HOME lie on this machine, for who shows
// them to commands in a way of its own. Restore and Snapshot may put other folders there. What was
// shown counts as written in.
func (e *Environment) HostDir() string { e.show(); return e.layout.work }

// HostHome is described with HostDir.
func (e *Environment) HostHome() string { e.show(); return e.layout.home() }

// Isolation implements environment.Environment.
func (e *Environment) Isolation() string {
	if e.driver.config.Unsandboxed {
		return "none"
	}
	return "bubblewrap"
}

// Private implements environment.Environment.
func (e *Environment) Private() string { return e.layout.agents() }

// Exec implements process.Executor. HOME lasts as long as the environment, /tmp as long as the
// command. A program that a signal ended shows as exit code 128 plus its number in the sandbox.
func (e *Environment) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	if err := e.layout.touch(); err != nil {
		return process.Result{}, err
	}
	return e.exec(ctx, c)
}

func (e *Environment) exec(ctx context.Context, c process.Command) (process.Result, error) {
	return e.enter(ctx, c, false)
}

// enter runs a command inside; one that looks sees less and changes nothing, see Look.
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
	scratch, remove, err := e.layout.newScratch()
	if err != nil {
		return process.Result{}, err
	}
	defer func() { err = errors.Join(err, remove()) }()
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

// Look runs a command that only looks: it sees the work folder and cannot write there, its HOME is an empty folder, and it
// reaches no network. The environment stays as it was, so that nothing has to be made anew after it. Without a sandbox it
// is Exec.
func (e *Environment) Look(ctx context.Context, c process.Command) (process.Result, error) {
	if e.driver.config.Unsandboxed {
		return e.Exec(ctx, c)
	}
	return e.enter(ctx, c, true)
}

// inside is where a command starts: Command.Dir relative to the work folder, or a path in it.
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

// mounts is what a command of this environment sees.
func (e *Environment) mounts(scratch string, c process.Command) (sandbox.Mounts, error) {
	m, err := e.driver.sandbox.Base()
	if err != nil {
		return nil, err
	}
	m["/tmp"] = sandbox.Mount{Kind: sandbox.ReadWrite, Source: scratch}
	m[sandbox.Workspace] = sandbox.Mount{Kind: sandbox.ReadWrite, Source: e.layout.work}
	m[sandbox.Home] = sandbox.Mount{Kind: sandbox.ReadWrite, Source: e.layout.home()}
	err = errors.Join(
		e.driver.sandbox.Request(m, sandbox.ReadWrite, c.Writes),
		e.driver.sandbox.Request(m, sandbox.ReadOnly, e.driver.config.ReadOnly),
		e.driver.sandbox.Request(m, sandbox.ReadOnly, c.Reads))
	e.driver.sandbox.Follow(m)
	return m, errors.Join(err, e.showShared(m))
}

// variables is the whole environment of a command: the allow-list, where its places are, the
// command's own, and last how what it started is found again.
func (e *Environment) variables(tmp string, own []string) []string {
	list := slices.Concat(e.driver.config.Variables,
		[]string{"PATH=" + e.driver.path, "HOME=" + e.home(), "TMPDIR=" + tmp},
		own,
		[]string{"SIGNALBOX_ENV_ID=" + e.spec.ID, "SIGNALBOX_ENV_DIR=" + e.Dir(), e.layout.tag()})
	return sandbox.LastOfEach(list)
}

// tag marks the processes of this environment on this machine; ids repeat between projects, folders do not.
func (l layout) tag() string { return sandbox.MarkOf("SIGNALBOX_ENV_MARK", l.work) }

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

// located gives an error about a file of the work folder the path by which a person finds it.
func (e *Environment) located(err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) && !filepath.IsAbs(at.Path) {
		at.Path = filepath.Join(e.layout.work, at.Path)
	}
	return err
}

// newScratch makes the /tmp of one command. It is new each time because bwrap makes mount points
// below it (a project in /tmp, a file to read): in a folder that an earlier command wrote it
// could be led through a symbolic link.
func (l layout) newScratch() (dir string, remove func() error, err error) {
	if err := os.MkdirAll(l.scratch(), 0o700); err != nil {
		return "", nil, fmt.Errorf("make temporary folder: %w", err)
	}
	dir, err = os.MkdirTemp(l.scratch(), "")
	if err != nil {
		return "", nil, fmt.Errorf("make temporary folder: %w", err)
	}
	return dir, func() error { return folder.Remove(dir) }, nil
}
