package heal

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/health"
	"signalbox/internal/problem"
	"signalbox/internal/store"
)

func newHealthInit(a *command.Invocation) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "init",
		Short: "Create state.json with all totals at zero",
		Long: "Begin state.json. One that is there, or whose state.json.bak is, is not touched,\n" +
			"unless --force; then it is kept as state.json.former-<time>.",
		Example: "  signalbox health init",
		RunE: func(c *cobra.Command, _ []string) error {
			return withHealth(c.Context(), a, func(doc *store.Document[health.State]) error {
				if _, err := loadOrLost(c.Context(), doc); err == nil && !force {
					return &problem.Error{Err: errors.New("there is a state.json, and its totals only grow"),
						Hint: `see it: signalbox health show; or begin anew: signalbox health init --force`}
				} else if !errors.Is(err, fs.ErrNotExist) && !force {
					return err
				}
				kept, err := doc.BeginAnew(c.Context())
				if err == nil && kept != "" {
					a.Print("the one that was there is kept as %s\n", kept)
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "begin anew although there is one, broken or not; it is kept as state.json.former-<time>")
	return c
}
