// Package document holds "signalbox document": it reads, checks, follows and migrates documents by their schema.
package document

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"signalbox/internal/app/documents"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/redact/visible"
	"signalbox/internal/schema"
	"signalbox/internal/store"
)

func New(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{Use: "document"}
	c.AddCommand(newDocumentValidate(a), newDocumentSchema(a), newDocumentMigrate(a), newDocumentCat(a), newDocumentWatch(a))
	return c
}

func newDocumentValidate(a *command.Invocation) *cobra.Command {
	var kind string
	c := &cobra.Command{
		Use: "validate FILE...", Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			verdicts, broken := []documents.Verdict{}, 0
			for _, file := range args {
				v, err := documents.Check(a.In, a.Opener.Dir, store.Kind(kind), file)
				if err != nil {
					return err
				}
				verdicts = append(verdicts, v)
				if !v.Valid {
					broken++
				} else if !a.JSON {
					a.Print("%s: valid (%s)\n", redact.Clean(v.Path), v.Kind)
				}
				for _, p := range v.Problems {
					if !a.JSON {
						a.Print("%s:%d:%d: %s\n", redact.Clean(v.Path), p.Line, p.Column, redact.Line(p.Reason, 400))
					}
				}
			}
			if a.JSON {
				if err := a.PrintJSON(verdicts); err != nil {
					return err
				}
			}
			if broken == 0 {
				return nil
			}
			return &problem.Error{Err: fmt.Errorf("%d of %d documents not valid", broken, len(args)), Code: problem.General,
				Hint: `fix it by hand, or let known errors of older writers be fixed: signalbox document migrate`}
		},
	}
	c.Flags().StringVar(&kind, "kind", "", "which document it is: "+strings.Join(documents.Kinds(), ", "))
	_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(documents.Kinds(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func newDocumentSchema(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "schema [NAME]", Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(documents.Kinds(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.Show(schema.Names(), func() { a.Print("%s\n", strings.Join(schema.Names(), "\n")) })
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

func newDocumentCat(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "cat FILE", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := documents.Read(a.In, a.Opener.Dir, args[0])
			if err != nil {
				return err
			}
			redactor := a.Opener.Redactor()
			decoder := jsontext.NewDecoder(bytes.NewBuffer(data))
			for number := 0; ; number++ {
				value, err := decoder.ReadValue()
				if err != nil && number > 0 && len(bytes.TrimSpace(data[decoder.InputOffset():])) == 0 {
					return nil
				}
				if err == nil {
					value, err = visible.JSON(value, redactor, jsontext.WithIndent("  "))
				}
				if err != nil {
					a.Print("%s\n", redactor.String(redact.Clean(string(data[decoder.InputOffset():]))))
					return &problem.Error{Err: fmt.Errorf("%s: not JSON: %w", args[0], err), Hint: "see what is wrong with it: signalbox document validate " + args[0]}
				}
				a.Print("%s\n", value)
			}
		},
	}
}

func newDocumentMigrate(a *command.Invocation) *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use: "migrate",
		RunE: func(c *cobra.Command, _ []string) error {
			results, broken := []documents.Migrated{}, 0
			all, err := documents.Migrate(c.Context(), a.Opener, dryRun, func(m documents.Migrated) {
				results = append(results, m)
				if m.Error != "" {
					broken++
				}
				if !a.JSON {
					printMigrated(a, m)
				}
			})
			if err != nil {
				return err
			}
			fixed := len(results) - broken
			if err := a.Show(results, func() {
				if dryRun && fixed > 0 {
					a.Print("%d of %d documents to fix; do it: signalbox document migrate\n", fixed, all)
				} else {
					a.Print("%d of %d documents fixed\n", fixed, all)
				}
			}); err != nil || broken == 0 {
				return err
			}
			return &problem.Error{Err: fmt.Errorf("%d of %d documents cannot be read and are left as they are", broken, all),
				Hint: "see what is wrong with one: signalbox document validate FILE"}
		},
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be fixed")
	return c
}

// fixesShown is how many changes of one document are printed one by one.
const fixesShown = 8

func printMigrated(a *command.Invocation, m documents.Migrated) {
	redactor := a.Opener.Redactor()
	say := func(format string, args ...any) {
		a.Print("%s\n", redact.Line(redactor.String(m.Path+": "+fmt.Sprintf(format, args...)), 300))
	}
	if m.Error != "" {
		say("left as it is: %s", m.Error)
	}
	for i, fix := range m.Fixes {
		was, is := redact.Line(string(fix.Was), 60), redact.Line(string(fix.Is), 60)
		switch {
		case i == fixesShown:
			say("and %d more", len(m.Fixes)-fixesShown)
			return
		case fix.Pointer == "":
			say("taken over from where an older tool kept it")
		case fix.Was == nil:
			say("%s was missing and is %s", fix.Pointer, is)
		default:
			say("%s was %s and is %s", fix.Pointer, was, is)
		}
	}
}
