package clone

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone/seccomp"
	"signalbox/internal/process"
)

// namespaces separate a command from this machine's processes. The network stays the machine's.
var namespaces = []string{
	"--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
	"--die-with-parent", "--cap-drop", "ALL",
}

// Check implements environment.Driver by running a program in a sandbox. First
// it ends what was in the middle of building one when its Signalbox was killed:
// until bubblewrap's first child follows its parent into death it waits for it for ever.
func (d *Driver) Check(ctx context.Context) (note string, err error) {
	if _, err := process.SweepOrphans(ctx, d.tag()); err != nil {
		return "", fmt.Errorf("end sandboxes that were cut off: %w", err)
	}
	if d.config.Unsandboxed {
		note := "commands run on this machine without isolation, as --unsandboxed asks"
		if limits := process.LimitsNote(d.config.Limits); limits != "" {
			note += "; " + limits
		}
		return note, nil
	}
	m, err := d.base()
	if err == nil {
		err = d.probe(ctx, view{mounts: m})
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", environment.ErrNoIsolation, err)
	}
	return strings.Join(d.notes(), "; "), nil
}

// notes are what commands run without.
func (d *Driver) notes() (notes []string) {
	if note := process.LimitsNote(d.config.Limits); note != "" {
		notes = append(notes, note)
	}
	switch {
	case !seccomp.Filters():
		notes = append(notes, "system calls are not filtered, and programs may make user namespaces: the numbers of calls on this architecture are not known")
	case d.config.UserNamespaces:
		notes = append(notes, "programs may make user namespaces, as environment.user_namespaces asks")
	}
	return notes
}

// probe builds a sandbox of v and runs a program that does nothing.
func (d *Driver) probe(ctx context.Context, v view) error {
	var said bytes.Buffer
	result, err := d.bubblewrap(ctx, v, "/", process.Command{
		Args: []string{"true"}, Env: []string{"PATH=" + DefaultPath},
		Stdout: &said, Stderr: &said, OutputLimit: 4 << 10,
	}, noNetwork)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !result.OK() {
		return sandboxError(said.String())
	}
	return nil
}

func sandboxError(said string) error {
	said, _, _ = strings.Cut(strings.TrimSpace(said), "\n")
	return fmt.Errorf("%w: %q", ErrSandbox, said)
}

// tag marks every sandbox of the project, whatever runs in it.
func (d *Driver) tag() string { return markOf("SIGNALBOX_PROJECT_MARK", d.config.Root) }

// view is what a sandbox shows, and the namespace in which that is found; nil is this machine's.
// Connected: its network is that namespace's, too.
type view struct {
	mounts    mounts
	within    *namespace
	connected bool
}

// bubblewrap runs c in dir, a path inside, with nothing but v of the file system. The further
// options are bwrap's.
func (d *Driver) bubblewrap(ctx context.Context, v view, dir string, c process.Command, options ...string) (process.Result, error) {
	program, err := d.program()
	if err != nil {
		return process.Result{}, err
	}
	args, err := v.enter()
	if err != nil {
		return process.Result{}, err
	}
	args = slices.Concat(args, []string{program}, namespaces, options)
	if c.Terminal == nil { // a terminal is one of the command's own: typing into it reaches nobody else
		args = append(args, "--new-session")
	}
	filter, err := seccomp.Open(d.config.UserNamespaces)
	if err != nil {
		return process.Result{}, err
	}
	if filter != nil {
		defer func() { _ = filter.Close() }()
		args = append(args, "--seccomp", strconv.Itoa(firstFile+len(c.Files)))
		c.Files = append(c.Files[:len(c.Files):len(c.Files)], filter)
	}
	args = append(args, v.mounts.arguments()...)
	users, err := openUsers()
	if err != nil {
		return process.Result{}, err
	}
	if users != nil {
		defer func() { _ = users.Close() }()
		args = append(args, "--ro-bind-data", strconv.Itoa(firstFile+len(c.Files)), usersFile)
		c.Files = append(c.Files[:len(c.Files):len(c.Files)], users)
	}
	args = append(args, "--proc", "/proc")
	args = append(args, guards()...)
	args = append(args, "--dev", "/dev", "--remount-ro", "/", "--chdir", dir, "--")
	c.Args = append(args, c.Args...)
	c.Env = append(c.Env[:len(c.Env):len(c.Env)], d.tag())
	c.Dir, c.Reads, c.Writes, c.Sandbox, c.Fresh, c.Limits = "/", nil, nil, true, true, d.config.Limits
	return d.config.Exec.Exec(ctx, c)
}

// program is the path of bwrap. It is never looked for in the PATH that commands get.
func (d *Driver) program() (string, error) {
	name := d.config.Bubblewrap
	if name == "" {
		name = "bwrap"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: there is no program %s", ErrSandbox, name)
	}
	return path, nil
}

// sandboxed runs c as bubblewrap does and makes a sandbox that could not be built an error.
func (d *Driver) sandboxed(ctx context.Context, v view, dir string, c process.Command, options ...string) (process.Result, error) {
	if len(c.Args) == 0 {
		return process.Result{}, errors.New("run in the sandbox: no program given")
	}
	name, stderr := c.Args[0], &opening{to: c.Stderr}
	if c.Stderr != nil && same(c.Stdout, c.Stderr) {
		c.Stdout = stderr
	}
	c.Stderr = stderr
	result, err := d.bubblewrap(ctx, v, dir, c, options...)
	if err != nil {
		return result, err
	}
	return result, d.started(ctx, v, name, result, stderr.head)
}

// same compares two writers, of which some kinds (a struct holding a slice) cannot be compared.
func same(a, b io.Writer) (equal bool) {
	defer func() { _ = recover() }()
	return a == b
}

// opening keeps the first bytes of a stream on their way: bwrap speaks before the program does.
type opening struct {
	to   io.Writer
	head []byte
}

func (o *opening) Write(p []byte) (int, error) {
	o.head = append(o.head, p[:min(len(p), 512-len(o.head))]...)
	if o.to == nil {
		return len(p), nil
	}
	return o.to.Write(p)
}

// started tells a sandbox that could not be built, a program or a folder that is not there,
// from a program that failed and speaks alike: bwrap prints "bwrap:" and exits 1 for all of
// them, and only a sandbox that cannot be built fails again with another program.
func (d *Driver) started(ctx context.Context, v view, name string, r process.Result, head []byte) error {
	said := string(head)
	if r.Ending == process.Exited && r.ExitCode != 0 && v.within != nil && strings.HasPrefix(said, "nsenter: ") {
		return d.probe(ctx, v)
	}
	if r.Ending != process.Exited || r.ExitCode != 1 || !strings.HasPrefix(said, "bwrap: ") {
		return nil
	}
	for _, ours := range []string{"execvp " + name + ": ", "Can't chdir to "} {
		if why, ok := strings.CutPrefix(said, "bwrap: "+ours); ok {
			return fmt.Errorf("start %q: %s", name, strings.TrimSpace(why))
		}
	}
	return d.probe(ctx, v)
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
	return dir, func() error { return removeTree(dir) }, nil
}
