package document

import (
	"errors"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/schema"
)

func newDocumentSchema(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:               "schema [NAME]",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(kindNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listSchemas(a)
			}
			text, err := schema.Text(args[0])
			if errors.Is(err, schema.ErrUnknown) {
				return &problem.Error{Err: err, Hint: `see which there are: signalbox document schema`, Code: problem.NotFound}
			}
			a.Print("%s", text)
			return err
		},
	}
}

func listSchemas(a *command.Invocation) error {
	if a.JSON {
		return a.PrintJSON(schema.Names())
	}
	for _, name := range schema.Names() {
		a.Print("%s\n", name)
	}
	return nil
}
