package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"signalbox/internal/process"
)

// versionWait is many times what the slowest program needs on an idle machine (Gemini CLI: 2 s).
const versionWait = 30 * time.Second

// Version asks the program on this machine for its version: the first line on standard output, or otherwise on standard error. The program gets an
// empty HOME, so it neither reads nor writes the user's own.
func (p Program) Version(ctx context.Context) (version string, err error) {
	installation, err := p.Installation()
	if err != nil {
		return "", err
	}
	home, err := os.MkdirTemp("", "signalbox-agent-version-")
	if err != nil {
		return "", fmt.Errorf("make a HOME for agent %q: %w", p.Agent, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	end, text, err := p.askVersion(ctx, process.Host{}, process.Command{Args: installation.Args, Dir: home,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home}})
	return p.version(ctx, end, text, err)
}

// VersionIn asks the program for its version where exec runs commands. If the program is missing there, the error names what is missing.
func (p Program) VersionIn(ctx context.Context, exec process.Executor) (version string, err error) {
	located := p.Located()
	end, text, err := p.askVersion(ctx, exec, process.Command{Args: located.Args, Reads: located.reads()})
	switch {
	case ctx.Err() == nil && err != nil:
		return "", unseenError{located.unseen(err.Error()).Message, err}
	case err == nil && notStarted(end):
		return "", unseenError{located.unseen(lastLine(text)).Message, nil}
	}
	return p.version(ctx, end, text, err)
}

// FindIn looks for a program where exec runs commands, without starting it. The error names what is missing.
func (p Program) FindIn(ctx context.Context, exec process.Executor) error {
	c := process.Command{Args: []string{"sh", "-c", `command -v "$1"`, "sh", p.Args[0]}, Reads: p.reads(), Total: versionWait, OutputLimit: lastBytes}
	c.Env = Task{}.environ(p.Env)
	switch end, err := exec.Exec(ctx, c); {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return unseenError{p.unseen(err.Error()).Message, err}
	case !end.OK():
		return unseenError{p.unseen("").Message, nil}
	}
	return nil
}

// ErrUnseen: the program can't be started where it is to work.
var ErrUnseen = errors.New("cannot be started")

// unseenError is ErrUnseen with what is missing and how the start ended.
type unseenError struct {
	says  string
	cause error
}

func (e unseenError) Error() string { return e.says }

func (e unseenError) Is(target error) bool { return target == ErrUnseen }

func (e unseenError) Unwrap() error { return e.cause }

// askVersion runs c, which makes the program print its version.
func (p Program) askVersion(ctx context.Context, exec process.Executor, c process.Command) (end process.Result, text string, err error) {
	said, problems := tail{limit: lastBytes}, tail{limit: lastBytes}
	c.Args, c.Stdout, c.Stderr = slices.Concat(c.Args, []string{"--version"}), &said, &problems
	c.Env = Task{}.environ(slices.Concat(c.Env, []string{"DO_NOT_TRACK=1"}, p.Env))
	c.Total, c.OutputLimit = versionWait, lastBytes
	end, err = exec.Exec(ctx, c)
	return end, said.marked() + "\n" + problems.marked(), err
}

// version parses the output of askVersion.
func (p Program) version(ctx context.Context, end process.Result, text string, err error) (string, error) {
	switch {
	case err == nil && end.OK():
		return firstLine(text), p.young(text)
	case err == nil && ctx.Err() != nil:
		err = ctx.Err()
	case err == nil:
		err = fmt.Errorf("%s with code %d: %s", end.Ending, end.ExitCode, lastLine(text))
	}
	return "", fmt.Errorf("ask agent %q for its version: %w", p.Agent, err)
}

// firstLine returns the first line of text with anything visible.
func firstLine(text string) string {
	for part := range strings.Lines(text) {
		if l := line(part); l != "" {
			return l
		}
	}
	return ""
}
