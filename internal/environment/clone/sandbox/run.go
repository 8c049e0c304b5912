package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"signalbox/internal/environment/clone/overlay"
	"signalbox/internal/environment/clone/seccomp"
	"signalbox/internal/process"
)

// namespaces separate a command from this machine's processes. The network stays the machine's.
var namespaces = []string{
	"--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
	"--die-with-parent", "--cap-drop", "ALL",
}

// Probe builds a sandbox of v and runs a program in it that does nothing.
func (s *Sandbox) Probe(ctx context.Context, v View) error {
	var said bytes.Buffer
	result, err := s.bubblewrap(ctx, v, "/", process.Command{
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
		line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return fmt.Errorf("%w: %q", ErrNotBuilt, line)
	}
	return nil
}

// View is the part of the file system that a sandbox shows.
type View struct {
	Mounts Mounts
	// Within is the namespace in which the mounts' sources are; nil means this machine's.
	Within    *overlay.Namespace
	connected bool // the network is that namespace's, too
}

// bubblewrap runs c in dir, a path inside, with nothing but v of the file system. The further
// options are bwrap's.
func (s *Sandbox) bubblewrap(ctx context.Context, v View, dir string, c process.Command, options ...string) (process.Result, error) {
	name := cmp.Or(s.config.Bubblewrap, "bwrap")
	program, err := exec.LookPath(name) // never in the PATH that commands get
	if err != nil {
		return process.Result{}, fmt.Errorf("%w: there is no program %s", ErrNotBuilt, name)
	}
	var args []string
	if v.Within != nil { // nsenter opens the namespaces itself, so its child inherits nothing of them
		enter, err := exec.LookPath("nsenter")
		if err != nil {
			return process.Result{}, fmt.Errorf("%w: find the program that enters namespaces: %w", ErrNotBuilt, err)
		}
		args = slices.Concat([]string{enter, "--preserve-credentials"}, v.Within.Flags(v.connected), []string{"--"})
	}
	args = slices.Concat(args, []string{program}, namespaces, options)
	if c.Terminal == nil { // a terminal is the command's own: typing into it reaches no one else
		args = append(args, "--new-session")
	}
	filter, err := seccomp.Open(s.config.UserNamespaces)
	if err != nil {
		return process.Result{}, err
	}
	if filter != nil {
		defer func() { _ = filter.Close() }()
		args = append(args, "--seccomp", strconv.Itoa(firstFile+len(c.Files)))
		c.Files = append(c.Files[:len(c.Files):len(c.Files)], filter)
	}
	args = append(args, v.Mounts.arguments()...)
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
	c.Env = append(c.Env[:len(c.Env):len(c.Env)], s.Tag())
	c.Dir, c.Reads, c.Writes, c.Sandbox, c.Fresh, c.Limits = "/", nil, nil, true, true, s.config.Limits
	return s.config.Exec.Exec(ctx, c)
}

// sandboxed runs c as bubblewrap does and returns an error if the sandbox could not be built, or has no such program or
// folder. A program that fails may print the same: bwrap prints "bwrap:" and exits 1 for all of them, and only a sandbox that
// can't be built fails again with another program.
func (s *Sandbox) sandboxed(ctx context.Context, v View, dir string, c process.Command, options ...string) (process.Result, error) {
	if len(c.Args) == 0 {
		return process.Result{}, errors.New("run in the sandbox: no program given")
	}
	name, stderr := c.Args[0], &opening{to: c.Stderr}
	if c.Stderr != nil && same(c.Stdout, c.Stderr) {
		c.Stdout = stderr
	}
	c.Stderr = stderr
	result, err := s.bubblewrap(ctx, v, dir, c, options...)
	said := string(stderr.head)
	switch {
	case err != nil || result.Ending != process.Exited || result.ExitCode == 0:
		return result, err
	case v.Within != nil && strings.HasPrefix(said, "nsenter: "):
		return result, s.Probe(ctx, v)
	case result.ExitCode != 1 || !strings.HasPrefix(said, "bwrap: "):
		return result, nil
	}
	for _, ours := range []string{"execvp " + name + ": ", "Can't chdir to "} {
		if why, ok := strings.CutPrefix(said, "bwrap: "+ours); ok {
			return result, fmt.Errorf("start %q: %s", name, strings.TrimSpace(why))
		}
	}
	return result, s.Probe(ctx, v)
}

// same compares two writers. Some kinds (a struct holding a slice) can't be compared, and count as different.
func same(a, b io.Writer) (equal bool) {
	defer func() { _ = recover() }()
	return a == b
}

// opening keeps the first bytes of a stream on their way: bwrap writes before the program does.
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

// Notes returns the protections that commands run without.
func (s *Sandbox) Notes() (notes []string) {
	if note := process.LimitsNote(s.config.Limits); note != "" {
		notes = append(notes, note)
	}
	switch {
	case !seccomp.Filters():
		notes = append(notes, "system calls are not filtered, and programs may make user namespaces: the numbers of calls on this architecture are not known")
	case s.config.UserNamespaces:
		notes = append(notes, "programs may make user namespaces, as environment.user_namespaces asks")
	}
	return notes
}
