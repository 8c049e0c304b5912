package process

import (
	"context"
	"fmt"
	"io"
	"os/exec"
)

// Foreground runs a person's own program (an editor, a pager) on their terminal and waits for it. It stays in our
// process group, so that the terminal's keys reach it, and has the whole of env. Unlike Run it bounds nothing and ends
// nothing that the program leaves behind: the program is the person's, not a project's.
func Foreground(ctx context.Context, args, env []string, in io.Reader, out, errs io.Writer) error {
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env, c.Stdin, c.Stdout, c.Stderr = env, in, out, errs
	if err := c.Run(); err != nil {
		return fmt.Errorf("run %q: %w", args[0], err)
	}
	return nil
}
