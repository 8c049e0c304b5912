// Package tui holds "signalbox tui": the front end for people at a terminal, which is a program of its own.
package tui

import (
	"errors"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/beside"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
)

// New returns the command.
func New(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "tui", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.Typist() == nil || !a.Terminal {
				return &problem.Error{Err: errors.New("the board needs a terminal to draw on and to type at"), Hint: "without one: signalbox list", Code: problem.Usage}
			}
			return beside.Become("signalbox-tui")
		},
	}
}

// Alone is "signalbox" without a command: the board at a terminal that can draw it, and elsewhere, or if the board isn't installed, the help.
func Alone(a *command.Invocation) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, _ []string) error {
		if a.Typist() != nil && a.Terminal && !a.JSON && a.Opener.Env("TERM") != "dumb" {
			_ = beside.Become("signalbox-tui")
		}
		return c.Help()
	}
}
