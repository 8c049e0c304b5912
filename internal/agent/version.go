package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"signalbox/internal/process"
)

// versionWait is many times what the slowest program was seen to take.
const versionWait = 10 * time.Second

// Version asks the program on this machine for its version: the first line on standard output, or
// else on standard error. It has an empty HOME, so that it neither reads nor writes a person's own.
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
	said, problems := tail{limit: lastBytes}, tail{limit: lastBytes}
	end, err := process.Run(ctx, process.Command{
		Args: append(installation.Args, "--version"), Dir: home, Stdout: &said, Stderr: &problems,
		Env:   Task{}.environ(append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "DO_NOT_TRACK=1"}, p.Env...)),
		Total: versionWait, OutputLimit: lastBytes,
	})
	text := clean(said.last()) + "\n" + clean(problems.last())
	switch {
	case err == nil && end.OK():
		return firstLine(text), nil
	case err == nil && ctx.Err() != nil:
		err = ctx.Err()
	case err == nil:
		err = fmt.Errorf("%s with code %d: %s", end.Ending, end.ExitCode, lastLine(text))
	}
	return "", fmt.Errorf("ask agent %q for its version: %w", p.Agent, err)
}

// firstLine is the first line of text that holds anything visible.
func firstLine(text string) string {
	for part := range strings.Lines(text) {
		if l := line(part); l != "" {
			return l
		}
	}
	return ""
}
