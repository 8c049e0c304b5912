package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"signalbox/internal/cli/command"
	"signalbox/internal/forge"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/wire"
)

func newNew(a *command.Invocation) *cobra.Command {
	n := &newRequest{Invocation: a}
	c := &cobra.Command{
		Use:  "new [TITLE]",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return n.write(c.Context(), strings.Join(args, "")) },
	}
	c.Flags().StringVar(&n.body, "body", "", "the description")
	c.Flags().StringVarP(&n.from, "from-file", "f", "", "read the description from a file; - is standard input")
	c.Flags().BoolVarP(&n.edit, "edit", "e", false, "open the editor even when the description is given")
	c.MarkFlagsMutuallyExclusive("body", "from-file")
	return c
}

// newRequest is one use of "signalbox new".
type newRequest struct {
	*command.Invocation
	body, from string
	edit       bool
}

func (n *newRequest) write(ctx context.Context, title string) error {
	p, err := n.Open(ctx)
	if err != nil {
		return err
	}
	body := n.body
	if n.from != "" {
		if body, err = n.read(); err != nil {
			return err
		}
	}
	request, err := p.NewRequest(ctx, title, body)
	if err != nil {
		return err
	}
	if n.edit || body == "" && interactive(n.Invocation) {
		if request, err = edited(ctx, p, request); err != nil {
			return err
		}
	}
	if p.JSON {
		return p.PrintJSON(request)
	}
	p.Print("%s is request %d: %s\n", redact.Line(request.Path, 200), request.Number, redact.Line(request.Title, 200))
	p.Print("start it: signalbox run %d\n", request.Number)
	return nil
}

// maxDescription is how much of a file --from-file reads, in bytes; a request file is no larger.
const maxDescription = 1 << 20

func (n *newRequest) read() (string, error) {
	source := n.In
	if n.from != "-" {
		name := n.from
		if !filepath.IsAbs(name) {
			name = filepath.Join(n.Opener.Dir, name)
		}
		file, err := os.Open(name)
		if err != nil {
			return "", fmt.Errorf("read description: %w", err)
		}
		defer func() { _ = file.Close() }()
		source = file
	}
	data, err := io.ReadAll(io.LimitReader(source, maxDescription+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read description: %w", err)
	case len(data) > maxDescription:
		return "", fmt.Errorf("read description: %s is larger than %d bytes", n.from, maxDescription)
	}
	return string(data), nil
}

// interactive reports whether a person can be shown an editor.
func interactive(a *command.Invocation) bool {
	in, ok := a.In.(*os.File)
	return ok && !a.JSON && a.Terminal && term.IsTerminal(int(in.Fd()))
}

// edited has the person edit the request's file and reads it back. The file stays as they left it, also when it is
// broken.
func edited(ctx context.Context, p *command.Project, request forge.Request) (forge.Request, error) {
	err := openEditor(ctx, p.Invocation, filepath.Join(p.Root, request.Path))
	if errors.Is(err, exec.ErrNotFound) && len(own(p.Invocation, "", "VISUAL", "EDITOR")) == 0 {
		p.Say("there is no editor here ($VISUAL, $EDITOR); describe the change in " + request.Path)
		return request, nil
	}
	if err != nil {
		return request, &problem.Error{Err: err, Hint: fmt.Sprintf("the request is in %s; edit it there, then: signalbox run %d", request.Path, request.Number)}
	}
	edited, err := p.Forge.Request(ctx, request.Path)
	if errors.Is(err, forge.ErrNotFound) {
		return request, &problem.Error{Err: fmt.Errorf("%s was deleted in the editor", request.Path), Code: problem.NotFound}
	}
	return edited, wire.Explained(err)
}

// openEditor runs the person's own editor on the terminal and waits for it. Its words come from their environment,
// as with git and crontab, and are split at spaces; nothing of a project is among them.
func openEditor(ctx context.Context, a *command.Invocation, path string) error {
	words := own(a, "vi", "VISUAL", "EDITOR")
	return process.Foreground(ctx, append(words, path), os.Environ(), a.In, a.Bare.Out, a.Bare.Err)
}

// own is the program, with its arguments, that the first of the variables names which has a value.
func own(a *command.Invocation, usual string, variables ...string) []string {
	for _, name := range variables {
		if words := strings.Fields(a.Opener.Env(name)); len(words) > 0 {
			return words
		}
	}
	return strings.Fields(usual)
}
