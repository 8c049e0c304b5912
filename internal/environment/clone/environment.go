package clone

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"signalbox/internal/environment"
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
	return workspace
}

// home is HOME as commands see it.
func (e *Environment) home() string {
	if e.driver.config.Unsandboxed {
		return e.layout.home()
	}
	return homeInside
}

// HostDir and HostHome are where the work folder and HOME lie on this machine, for who shows
// them to commands in a way of its own. Restore and Snapshot may put other folders there. What was
// shown counts as written in.
func (e *Environment) HostDir() string { e.show(); return e.layout.work }

// HostHome is described with HostDir.
func (e *Environment) HostHome() string { e.show(); return e.layout.home() }

// Isolation implements environment.Environment.
func (e *Environment) Isolation() string { return e.driver.isolation() }

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
		return e.driver.connected(ctx, view{mounts: m, within: n}, dir, c)
	}
	m[workspace] = mount{kind: readOnly, source: e.layout.work}
	m[homeInside] = mount{kind: empty}
	return e.driver.sandboxed(ctx, view{mounts: m, within: n}, dir, c, noNetwork)
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
func (e *Environment) mounts(scratch string, c process.Command) (mounts, error) {
	m, err := e.driver.base()
	if err != nil {
		return nil, err
	}
	m["/tmp"] = mount{kind: readWrite, source: scratch}
	m[workspace] = mount{kind: readWrite, source: e.layout.work}
	m[homeInside] = mount{kind: readWrite, source: e.layout.home()}
	err = errors.Join(
		e.driver.request(m, readWrite, c.Writes),
		e.driver.request(m, readOnly, e.driver.config.ReadOnly),
		e.driver.request(m, readOnly, c.Reads))
	e.driver.follow(m)
	return m, errors.Join(err, e.showShared(m))
}

// variables is the whole environment of a command: the allow-list, where its places are, the
// command's own, and last how what it started is found again.
func (e *Environment) variables(tmp string, own []string) []string {
	list := slices.Concat(e.driver.config.Variables,
		[]string{"PATH=" + e.driver.path, "HOME=" + e.home(), "TMPDIR=" + tmp},
		own,
		[]string{"SIGNALBOX_ENV_ID=" + e.spec.ID, "SIGNALBOX_ENV_DIR=" + e.Dir(), e.layout.tag()})
	return lastOfEach(list)
}

// lastOfEach drops an assignment that a later one replaces.
func lastOfEach(list []string) (kept []string) {
	seen := map[string]bool{}
	for _, entry := range slices.Backward(list) {
		name, _, _ := strings.Cut(entry, "=")
		if !seen[name] {
			seen[name] = true
			kept = append(kept, entry)
		}
	}
	slices.Reverse(kept)
	return kept
}

// tag marks the processes of this environment on this machine; ids repeat between projects, folders do not.
func (l layout) tag() string { return markOf("SIGNALBOX_ENV_MARK", l.work) }

// markOf is a variable that stands for a folder of this machine. Where that is, is nothing that a
// command could use, or should know.
func markOf(name, dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return name + "=" + hex.EncodeToString(sum[:16])
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
	f, err := openRegular(n.path(e.layout.work), filepath.Clean(name))
	if err != nil {
		return nil, fmt.Errorf("read %q of the environment: %w", name, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read %q of the environment: %w", name, err)
	}
	return data, nil
}

// errNotRegular: a symbolic link, a pipe, a device or a folder stands where a file should.
var errNotRegular = errors.New("not a regular file")

// openRegular opens a file below dir without following a link at any level and without waiting
// for the other end of a pipe.
func openRegular(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	if err := noLinks(root, name); err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(f.Close(), err, errNotRegular)
	}
	return f, nil
}

// noLinks refuses a path of which any part is a symbolic link.
func noLinks(root *os.Root, name string) error {
	for part := name; part != "."; part = filepath.Dir(part) {
		info, err := root.Lstat(part)
		if err != nil {
			return err
		}
		if info.Mode().Type() == fs.ModeSymlink {
			return fmt.Errorf("%q is a symbolic link: %w", part, errNotRegular)
		}
	}
	return nil
}
