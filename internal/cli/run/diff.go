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
		Use:  "diff RUN",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p, found, err := a.OpenRun(c.Context(), args[0])
			if err != nil {
				return err
			}
			d := &differ{Project: p, run: &found.Run}
			switch base, head := d.run.Details.BaseCommit, d.run.Details.Head; {
			case head == "" || head == base:
				return &problem.Error{Err: fmt.Errorf("run %s has recorded no change yet", d.run.Ref()), Code: problem.NotFound,
					Hint: "see where it is: signalbox status " + d.run.Ref()}
			case tool:
				return d.tool(c.Context())
			case stat || p.JSON:
				return d.stat(c.Context())
			}
			return d.patch(c.Context(), !noPager)
		},
	}
	c.Flags().BoolVar(&stat, "stat", false, "list the files and how many lines changed in each")
	c.Flags().BoolVar(&tool, "tool", false, "open it in your own tool, with git difftool")
	c.Flags().BoolVar(&noPager, "no-pager", false, "print it without a pager")
	c.MarkFlagsMutuallyExclusive("stat", "tool")
	return c
}

// differ shows the change of one run.
type differ struct {
	*command.Project
	run *workflow.Run
}

// changedFile is one line of --stat, and one object of its JSON.
type changedFile struct {
	Path string `json:"path"`
	// Added and Deleted are lines; -1 for a binary file.
	Added   int `json:"added"`
	Deleted int `json:"deleted"`
}

func (d *differ) stat(ctx context.Context) error {
	j := &d.run.Details
	changes, err := d.Repo.Changes(ctx, j.BaseCommit, j.Head)
	if err != nil {
		return err
	}
	files := make([]changedFile, len(changes))
	for i, c := range changes {
		files[i] = changedFile{d.Redact.Line(c.Path, 400), c.Added, c.Deleted}
	}
	if d.JSON {
		return d.PrintJSON(struct {
			RequestID string        `json:"request_id"`
			RunID     string        `json:"run_id"`
			Base      string        `json:"base"`
			Head      string        `json:"head"`
			Files     []changedFile `json:"files"`
		}{d.run.RequestID, d.run.RunID, j.BaseCommit, j.Head, files})
	}
	added, deleted, width := 0, 0, 0
	for _, f := range files {
		added, deleted, width = added+max(0, f.Added), deleted+max(0, f.Deleted), max(width, displaywidth.String(f.Path))
	}
	for _, f := range files {
		lines := fmt.Sprintf("+%d −%d", f.Added, f.Deleted)
		if f.Added < 0 {
			lines = "binary"
		}
		d.Print("%s%s  %s\n", f.Path, strings.Repeat(" ", width-displaywidth.String(f.Path)), lines)
	}
	d.Print("%s, +%d −%d; %.10s on %s, from %.10s\n", commandline.Count(len(files), "file"), added, deleted, j.Head, redact.Line(j.Branch, 100), j.BaseCommit)
	return nil
}

// tool lets git show the change in the person's own tool. It is their git, their configuration and their repository.
func (d *differ) tool(ctx context.Context) error {
	args := []string{"git", "-C", d.Root, "difftool", "--dir-diff", d.run.Details.BaseCommit, d.run.Details.Head}
	if err := process.Foreground(ctx, args, os.Environ(), d.In, d.Bare.Out, d.Bare.Err); err != nil {
		return &problem.Error{Err: err, Hint: "name a tool: git config --global diff.tool NAME (git difftool --tool-help lists them)"}
	}
	return nil
}

// patch prints the change, cleaned, redacted and, on a terminal, coloured.
func (d *differ) patch(ctx context.Context, paged bool) (err error) {
	out := d.Out
	if paged && d.Terminal {
		var end func() error
		if out, end = d.pager(ctx); end != nil {
			defer func() { err = errors.Join(err, end()) }()
		}
	}
	painted := &lineWriter{to: out, each: d.painted()}
	hidden := d.Redact.CleanWriter(painted)
	err = d.Repo.Patch(ctx, d.run.Details.BaseCommit, d.run.Details.Head, hidden)
	err = errors.Join(err, hidden.Close(), painted.Close())
	if errors.Is(err, io.ErrClosedPipe) {
		return nil // the reader left the pager before the end
	}
	return err
}

// painted colours the lines of a patch; of a binary file it leaves only that it differs.
func (d *differ) painted() func(string) string {
	binary, header := false, true
	return func(line string) string {
		text := strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(text, "diff --git "):
			binary, header = false, true
			return d.Paint(command.Bold, text) + "\n"
		case text == "GIT binary patch":
			binary = true
			return "binary files differ\n"
		case binary:
			return ""
		case strings.HasPrefix(text, "@@"):
			header = false
			return d.Paint(command.Cyan, text) + "\n"
		case header:
			return d.Paint(command.Faint, text) + "\n"
		case strings.HasPrefix(text, "+"):
			return d.Paint(command.Green, text) + "\n"
		case strings.HasPrefix(text, "-"):
			return d.Paint(command.Red, text) + "\n"
		}
		return line
	}
}

// pager starts the person's pager; end waits until they have left it. Where there is none, out is the terminal itself
// and end is nil.
func (d *differ) pager(ctx context.Context) (out io.Writer, end func() error) {
	words := own(d.Invocation, "less", "PAGER")
	if _, err := exec.LookPath(words[0]); err != nil || words[0] == "cat" {
		return d.Out, nil
	}
	from, to := io.Pipe()
	done := make(chan error, 1)
	// F: a short change needs no pager; R: colours; X: it stays on the screen.
	env := append(os.Environ(), "LESS="+cmp.Or(d.Env("LESS"), "FRX"))
	go func() {
		err := process.Foreground(ctx, words, env, from, d.Bare.Out, d.Bare.Err)
		_ = from.CloseWithError(io.ErrClosedPipe)
		done <- err
	}()
	return to, func() error { _ = to.Close(); return <-done }
}

// lineWriter passes on whole lines, each through a function.
type lineWriter struct {
	to   io.Writer
	each func(string) string
	rest bytes.Buffer
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest.Write(p)
	for {
		i := bytes.IndexByte(w.rest.Bytes(), '\n')
		if i < 0 {
			return len(p), nil
		}
		if _, err := io.WriteString(w.to, w.each(string(w.rest.Next(i+1)))); err != nil {
			return 0, err
		}
	}
}

// Close passes on the last line, which may have no end.
func (w *lineWriter) Close() error {
	_, err := io.WriteString(w.to, w.each(w.rest.String()))
	w.rest.Reset()
	return err
}
