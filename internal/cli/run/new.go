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

	"signalbox/internal/cli/command"
	"signalbox/internal/forge"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/wire"
)

func newNew(a *command.Invocation) *cobra.Command {
	var body, from string
	var edit bool
	c := &cobra.Command{
		Use: "new [TITLE]", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := a.Open(c.Context())
			if err != nil {
				return err
			}
			if from != "" {
				if body, err = readDescription(a, from); err != nil {
					return fmt.Errorf("read description: %w", err)
				}
			}
			request, err := p.NewRequest(c.Context(), strings.Join(args, ""), body)
			if err != nil {
				return err
			}
			if edit || body == "" && !a.JSON && a.Terminal && a.Typist() != nil {
				if request, err = edited(c.Context(), p, request); err != nil {
					return err
				}
			}
			return a.Show(request, func() {
				a.Print("%s is request %d: %s\n", redact.Line(request.Path, 200), request.Number, redact.Line(request.Title, 200))
				a.Print("start it: signalbox run %s\n", p.NameOf(request))
			})
		},
	}
	c.Flags().StringVar(&body, "body", "", "the description")
	c.Flags().StringVarP(&from, "from-file", "f", "", "read the description from a file; - is standard input")
	c.Flags().BoolVarP(&edit, "edit", "e", false, "open the editor even when the description is given")
	c.MarkFlagsMutuallyExclusive("body", "from-file")
	return c
}

// maxDescription is how much of a file --from-file reads, in bytes; a request file is no larger.
const maxDescription = 1 << 20

func readDescription(a *command.Invocation, from string) (string, error) {
	source := a.In
	if from != "-" {
		name := from
		if !filepath.IsAbs(name) {
			name = filepath.Join(a.Opener.Dir, name)
		}
		file, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer func() { _ = file.Close() }()
		source = file
	}
	data, err := io.ReadAll(io.LimitReader(source, maxDescription+1))
	if err == nil && len(data) > maxDescription {
		err = fmt.Errorf("%s is larger than %d bytes", from, maxDescription)
	}
	return string(data), err
}

// edited opens the request's file in the user's editor and reads it back. The file stays as they left it, even if it's broken.
// The editor comes from the environment, as with git and crontab, and is split at spaces; nothing of a project is part of it.
func edited(ctx context.Context, p *command.Project, request forge.Request) (forge.Request, error) {
	editor := own(p.Invocation, "vi", "VISUAL", "EDITOR")
	err := process.Foreground(ctx, append(editor, filepath.Join(p.Root, request.Path)), os.Environ(), p.In, p.Bare.Out, p.Bare.Err)
	if errors.Is(err, exec.ErrNotFound) && len(own(p.Invocation, "", "VISUAL", "EDITOR")) == 0 {
		p.Say("there is no editor here ($VISUAL, $EDITOR); describe the change in " + request.Path)
		return request, nil
	}
	if err != nil {
		return request, &problem.Error{Err: err, Hint: fmt.Sprintf("the request is in %s; edit it there, then: signalbox run %s", request.Path, p.NameOf(request))}
	}
	edited, err := p.Forge.Request(ctx, request.Path)
	if errors.Is(err, forge.ErrNotFound) {
		return request, &problem.Error{Err: fmt.Errorf("%s was deleted in the editor", request.Path), Code: problem.NotFound}
	}
	return edited, wire.Explained(err)
}

// own is the program, with its arguments, of the first variable that names one.
func own(a *command.Invocation, usual string, variables ...string) []string {
	for _, name := range variables {
		if words := strings.Fields(a.Opener.Env(name)); len(words) > 0 {
			return words
		}
	}
	return strings.Fields(usual)
}
