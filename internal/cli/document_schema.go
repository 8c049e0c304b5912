package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"signalbox/internal/problem"
	"signalbox/internal/schema"
)

func newDocumentSchema(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:               "schema [NAME]",
		Short:             "Print a document's JSON Schema (2020-12), or list them",
		Example:           "  signalbox document schema\n  signalbox document schema environments > environments.schema.json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(kindNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listSchemas()
			}
			text, err := schema.Text(args[0])
			if errors.Is(err, schema.ErrUnknown) {
				return &problem.Error{Err: err, Hint: `see which there are: signalbox document schema`, Code: problem.NotFound}
			}
			a.print("%s", text)
			return err
		},
	}
}

func (a *invocation) listSchemas() error {
	if a.json {
		return a.printJSON(schema.Names())
	}
	for _, name := range schema.Names() {
		a.print("%s\n", name)
	}
	return nil
}
