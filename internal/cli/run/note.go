package run

import (
	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
)

func newNote(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:  "note RUN TEXT",
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := a.Open(c.Context())
			if err != nil {
				return err
			}
			return p.Note(c.Context(), args[0], args[1])
		},
	}
}
