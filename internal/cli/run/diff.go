package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

func newDiff(a *command.Invocation) *cobra.Command {
	var stat, tool, noPager bool
	c := &cobra.Command{
		Use: "diff RUN", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p, found, err := a.OpenRun(c.Context(), args[0])
			if err != nil {
				return err
			}
			run := &found.Run
			change, err := p.Change(c.Context(), run)
			if err != nil {
				return err
			}
			switch base, head := change.Base, change.Head; {
			case (head == "" || head == run.Details.BaseCommit) && !a.JSON:
				a.Say("no change yet; see where it is: signalbox status " + run.Ref())
				return nil
			case len(change.Files) == 0 && !a.JSON:
				a.Say("nothing to merge: no file differs from " + redact.Line(run.Details.Base, 100))
				return nil
			case tool: // the user's git, configuration and repository
				args := []string{"git", "-C", p.Root, "difftool", "--dir-diff", base, head}
				if err := process.Foreground(c.Context(), args, os.Environ(), a.In, a.Bare.Out, a.Bare.Err); err != nil {
					return &problem.Error{Err: err, Hint: "name a tool: git config --global diff.tool NAME (git difftool --tool-help lists them)"}
				}
				return nil
			case stat || a.JSON:
				return a.Show(change, func() { printStat(a, run, &change) })
			}
			return printPatch(c.Context(), p, &change, !noPager)
		},
	}
	c.Flags().BoolVar(&stat, "stat", false, "list the files and how many lines changed in each")
	c.Flags().BoolVar(&tool, "tool", false, "open it in your own tool, with git difftool")
	c.Flags().BoolVar(&noPager, "no-pager", false, "print it without a pager")
	c.MarkFlagsMutuallyExclusive("stat", "tool")
	return c
}

func printStat(a *command.Invocation, run *workflow.Run, c *app.Change) {
	added, deleted, width := 0, 0, 0
	for _, f := range c.Files {
		added, deleted, width = added+max(0, f.Added), deleted+max(0, f.Deleted), max(width, displaywidth.String(f.Path))
	}
	for _, f := range c.Files {
		lines := fmt.Sprintf("+%d −%d", f.Added, f.Deleted)
		if f.Added < 0 {
			lines = "binary"
		}
		a.Print("%s%s  %s\n", f.Path, strings.Repeat(" ", width-displaywidth.String(f.Path)), lines)
	}
	a.Print("%s, +%d −%d; %.10s on %s, from %.10s\n", commandline.Count(len(c.Files), "file"), added, deleted, c.Head, redact.Line(run.Details.Branch, 100), c.Base)
}

// printPatch prints the change, cleaned, redacted and, on a terminal, coloured and in the user's pager.
func printPatch(ctx context.Context, p *command.Project, change *app.Change, paged bool) (err error) {
	out := p.Out
	pager := own(p.Invocation, "less", "PAGER")
	if _, missing := exec.LookPath(pager[0]); paged && p.Terminal && missing == nil && pager[0] != "cat" {
		from, to := io.Pipe()
		done := make(chan error, 1)
		// F: a short change needs no pager; R: colours; X: it stays on the screen.
		env := append(os.Environ(), "LESS="+cmp.Or(p.Env("LESS"), "FRX"))
		go func() {
			err := process.Foreground(ctx, pager, env, from, p.Bare.Out, p.Bare.Err)
			_ = from.CloseWithError(io.ErrClosedPipe)
			done <- err
		}()
		defer func() { _ = to.Close(); err = errors.Join(err, <-done) }()
		out = to
	}
	painted := &patchWriter{Invocation: p.Invocation, to: out, header: true}
	hidden := p.Redact.CleanWriter(painted)
	err = p.Repo.Patch(ctx, change.Base, change.Head, hidden)
	err = errors.Join(err, hidden.Close(), painted.Close())
	if errors.Is(err, io.ErrClosedPipe) {
		return nil // the user left the pager before the end
	}
	return err
}

// patchWriter colours the lines of a patch; of a binary file it prints only that it differs.
type patchWriter struct {
	*command.Invocation
	to             io.Writer
	binary, header bool
	rest           bytes.Buffer
}

// Write passes on whole lines.
func (w *patchWriter) Write(p []byte) (int, error) {
	w.rest.Write(p)
	for {
		i := bytes.IndexByte(w.rest.Bytes(), '\n')
		if i < 0 {
			return len(p), nil
		}
		if _, err := io.WriteString(w.to, w.painted(string(w.rest.Next(i+1)))); err != nil {
			return 0, err
		}
	}
}

// Close passes on the last line, which may have no end.
func (w *patchWriter) Close() error {
	_, err := io.WriteString(w.to, w.painted(w.rest.String()))
	w.rest.Reset()
	return err
}

func (w *patchWriter) painted(line string) string {
	text := strings.TrimSuffix(line, "\n")
	switch {
	case strings.HasPrefix(text, "diff --git "):
		w.binary, w.header = false, true
		return w.Paint(command.Bold, text) + "\n"
	case text == "GIT binary patch":
		w.binary = true
		return "binary files differ\n"
	case w.binary:
		return ""
	case strings.HasPrefix(text, "@@"):
		w.header = false
		return w.Paint(command.Cyan, text) + "\n"
	case line != "" && w.header:
		return w.Paint(command.Faint, text) + "\n"
	case strings.HasPrefix(text, "+"):
		return w.Paint(command.Green, text) + "\n"
	case strings.HasPrefix(text, "-"):
		return w.Paint(command.Red, text) + "\n"
	}
	return line
}
