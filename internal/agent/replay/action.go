package replay

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// action is one action of the script. A killed process may have performed it before, in whole or in part.
type action interface {
	perform(ctx context.Context, s stage) error
}

// stage is what actions work on.
type stage struct {
	// dir is the working directory; no action writes outside of it.
	dir *os.Root
	// The agent's own streams.
	stdin          io.Reader
	stdout, stderr io.Writer
}

// The actions of the package comment, as their values.
type (
	// printing is the text of print or answer, with its newline.
	printing string
	// patching is a unified diff.
	patching string
	// writing is content by path.
	writing map[string]string
	// deleting are paths of files or folders.
	deleting []string
	delaying time.Duration
	// running is a program with its arguments.
	running []string
	// exiting is the exit code.
	exiting  int
	crashing syscall.Signal
	hanging  struct{}
	// flooding is a number of bytes.
	flooding int64
)

// exiting is an error because it ends the script.
func (e exiting) Error() string { return fmt.Sprintf("exit with code %d", int(e)) }

func (e exiting) perform(context.Context, stage) error { return e }

func (p printing) perform(_ context.Context, s stage) error {
	_, err := io.WriteString(s.stdout, string(p))
	return err
}

func (w writing) perform(_ context.Context, s stage) error {
	for path, text := range w {
		if err := s.dir.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := s.dir.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (d deleting) perform(_ context.Context, s stage) error {
	for _, path := range d {
		if err := s.dir.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

func (d delaying) perform(ctx context.Context, _ stage) error {
	timer := time.NewTimer(time.Duration(d))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// perform waits on a timer instead of forever: the Go runtime ends a program in which no goroutine can continue.
func (hanging) perform(ctx context.Context, s stage) error {
	for {
		if err := delaying(time.Hour).perform(ctx, s); err != nil {
			return err
		}
	}
}

func (c crashing) perform(ctx context.Context, s stage) error {
	if signal.Ignored(syscall.Signal(c)) { // ignored by the starter, as nohup does
		return fmt.Errorf("end by %s: it is ignored here", unix.SignalName(syscall.Signal(c)))
	}
	signal.Reset(syscall.Signal(c))
	if err := syscall.Kill(os.Getpid(), syscall.Signal(c)); err != nil {
		return err
	}
	return hanging{}.perform(ctx, s)
}

func (f flooding) perform(_ context.Context, s stage) error {
	chunk := bytes.Repeat([]byte(strings.Repeat("~", 79)+"\n"), 1024)
	for left := int64(f); left > 0; left -= int64(len(chunk)) {
		if _, err := s.stdout.Write(chunk[:min(left, int64(len(chunk)))]); err != nil {
			return err
		}
	}
	return nil
}

func (r running) perform(ctx context.Context, s stage) error {
	command := exec.CommandContext(ctx, r[0], r[1:]...)
	command.Stdin, command.Stdout, command.Stderr = s.stdin, s.stdout, s.stderr
	return command.Run()
}

// perform does nothing if the patch is applied already, which a reverse check shows.
func (p patching) perform(ctx context.Context, s stage) error {
	if p.apply(ctx, io.Discard, "--reverse", "--check") == nil {
		return nil
	}
	return p.apply(ctx, s.stderr)
}

// apply runs "git apply" in the working directory, without the user's configuration. A repository above it is hidden, because git would take the
// directory for one of its subfolders.
func (p patching) apply(ctx context.Context, stderr io.Writer, flags ...string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, "git", append([]string{"apply", "--whitespace=nowarn"}, flags...)...)
	command.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "LC_ALL=C")
	command.Stdin, command.Stderr = strings.NewReader(string(p)), stderr
	return command.Run()
}
