// Package document holds "signalbox document": it reads, checks, follows and migrates documents by their schema.
package document

import (
	"slices"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/store"
)

func New(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{
		Use: "document",
	}
	c.AddCommand(newDocumentValidate(a), newDocumentSchema(a), newDocumentMigrate(a), newDocumentCat(a), newDocumentWatch(a))
	return c
}

// kindNames are the words of --kind and the names of the schemas.
func kindNames() (names []string) {
	for _, kind := range store.Kinds {
		names = append(names, string(kind))
	}
	return slices.Sorted(slices.Values(names))
}
