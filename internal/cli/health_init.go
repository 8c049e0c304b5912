package cli

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

func newHealthInit(a *app) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:     "init",
		Short:   "Begin state.json, with every total at zero",
		Long:    "Begin state.json. One that is there is not touched, unless --force; then it stays as state.json.bak.",
		Example: "  signalbox health init",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withHealth(c.Context(), func(doc *store.Document[workflow.Health]) error {
				_, err := doc.Load(c.Context())
				if err == nil && !force {
					return &problem{err: errors.New("there is a state.json, and its totals only grow"),
						hint: `see it: "signalbox health show"; or begin anew: "signalbox health init --force"`}
				}
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				return doc.Update(c.Context(), func(h *workflow.Health) error {
					if force {
						*h = workflow.NewHealth(now())
					}
					return nil
				})
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "begin anew although there is one; it stays as state.json.bak")
	return c
}
