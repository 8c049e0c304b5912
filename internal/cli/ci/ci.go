// Package ci holds "signalbox ci": runs in CI jobs, and their states between two jobs.
package ci

import (
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app/ci"
	"signalbox/internal/cli/command"
)

func New(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{Use: "ci"}
	c.AddCommand(newInit(a), newRun(a), newRestore(a), newSave(a))
	return c
}

func newRestore(a *command.Invocation) *cobra.Command {
	var unsealed bool
	c := &cobra.Command{
		Use: "restore NUMBER", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			number, err := ci.ParseNumber(args[0])
			if err != nil {
				return err
			}
			p, err := a.OpenTrusted(c.Context())
			if err != nil {
				return err
			}
			done, err := ci.Restore(c.Context(), p.App, number, unsealed)
			if err != nil {
				return err
			}
			return a.Show(done, func() {
				switch done.Result {
				case ci.Nothing:
					a.Print("nothing is saved of request %d: a run begins anew\n", number)
				case ci.Restored:
					a.Print("restored run %s: it is %s\n", done.RunID, strings.ToLower(done.State.Label()))
				case ci.Kept:
					a.Print("run %s here is as new as what is saved, or newer: it is %s\n", done.RunID, strings.ToLower(done.State.Label()))
				}
			})
		},
	}
	c.Flags().BoolVar(&unsealed, "unsealed", false, "trust everyone who may push to the remote")
	return c
}

func newSave(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "save NUMBER", Args: cobra.ExactArgs(1), ValidArgsFunction: command.Runs(a, nil, false),
		RunE: func(c *cobra.Command, args []string) error {
			number, err := ci.ParseNumber(args[0])
			if err != nil {
				return err
			}
			p, err := a.OpenTrusted(c.Context())
			if err != nil {
				return err
			}
			saved, err := ci.Save(c.Context(), p.App, number)
			if err != nil {
				return err
			}
			if !saved.Sealed {
				a.Warn("%s is not set, so nothing proves who saved this state", ci.KeyVariable)
			}
			return a.Show(saved, func() {
				a.Print("saved run %s as %.10s on %s\n", saved.RunID, saved.Commit, saved.Ref)
				if n := len(saved.LeftOut) + len(saved.Cut); n > 0 {
					a.Print("%d logs, transcripts and patches stay here, or in part\n", n)
				}
			})
		},
	}
}
