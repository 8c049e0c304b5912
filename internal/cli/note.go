package cli

import (
	"github.com/spf13/cobra"

	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func newNote(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "note RUN TEXT",
		Short:   "Add a note to a run",
		Example: "  signalbox note 42 \"waiting for the API team until Thursday\"",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			p, found, err := a.openRun(c.Context(), args[0])
			if err != nil {
				return err
			}
			return wire.Explained(p.signal(c.Context(), found, func(_ *workflow.Run, s *workflow.Signals) {
				s.Notes = nil
				if args[1] != "" {
					s.Notes = &args[1]
				}
			}))
		},
	}
}
