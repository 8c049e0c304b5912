package sandbox

import (
	"bytes"
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

// Probe builds a sandbox of v and runs a program that does nothing.
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
		return sandboxError(said.String())
	}
	return nil
}

func sandboxError(said string) error {
	said, _, _ = strings.Cut(strings.TrimSpace(said), "\n")
	return fmt.Errorf("%w: %q", ErrNotBuilt, said)
}

// View is what a sandbox shows, and the namespace in which that is found; nil is this machine's.
// Connected: its network is that namespace's, too.
type View struct {
	Mounts    Mounts
	Within    *overlay.Namespace
	connected bool
}

// bubblewrap runs c in dir, a path inside, with nothing but v of the file system. The further
// options are bwrap's.
func (s *Sandbox) bubblewrap(ctx context.Context, v View, dir string, c process.Command, options ...string) (process.Result, error) {
	program, err := s.program()
	if err != nil {
		return process.Result{}, err
	}
	var args []string
	if v.Within != nil { // nsenter opens the namespaces itself, so what it starts inherits nothing of them
		enter, err := exec.LookPath("nsenter")
		if err != nil {
			return process.Result{}, fmt.Errorf("%w: find the program that enters namespaces: %w", ErrNotBuilt, err)
		}
		args = slices.Concat([]string{enter, "--preserve-credentials"}, v.Within.Flags(v.connected), []string{"--"})
	}
	args = slices.Concat(args, []string{program}, namespaces, options)
	if c.Terminal == nil { // a terminal is one of the command's own: typing into it reaches nobody else
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

// program is the path of bwrap. It is never looked for in the PATH that commands get.
func (s *Sandbox) program() (string, error) {
	name := s.config.Bubblewrap
	if name == "" {
		name = "bwrap"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: there is no program %s", ErrNotBuilt, name)
	}
	return path, nil
}

// Isolated runs c in dir, a path inside, without any network.
func (s *Sandbox) Isolated(ctx context.Context, v View, dir string, c process.Command) (process.Result, error) {
	return s.sandboxed(ctx, v, dir, c, noNetwork)
}

// sandboxed runs c as bubblewrap does and makes a sandbox that could not be built an error.
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
	if err != nil {
		return result, err
	}
	return result, s.started(ctx, v, name, result, stderr.head)
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
func (s *Sandbox) started(ctx context.Context, v View, name string, r process.Result, head []byte) error {
	said := string(head)
	if r.Ending == process.Exited && r.ExitCode != 0 && v.Within != nil && strings.HasPrefix(said, "nsenter: ") {
		return s.Probe(ctx, v)
	}
	if r.Ending != process.Exited || r.ExitCode != 1 || !strings.HasPrefix(said, "bwrap: ") {
		return nil
	}
	for _, ours := range []string{"execvp " + name + ": ", "Can't chdir to "} {
		if why, ok := strings.CutPrefix(said, "bwrap: "+ours); ok {
			return fmt.Errorf("start %q: %s", name, strings.TrimSpace(why))
		}
	}
	return s.Probe(ctx, v)
}

// Notes are what commands run without.
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
