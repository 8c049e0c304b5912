package cli

import (
	"context"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/config"
	"signalbox/internal/redact"
)

func newAgents(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:  "agents",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return listAgents(c.Context(), a) },
	}
}

func listAgents(ctx context.Context, a *command.Invocation) error {
	found := a.Opener.Installed(ctx)
	if a.JSON {
		return a.PrintJSON(found)
	}
	for _, i := range found {
		if !i.Found {
			says := "not found; " + i.Install
			if i.Version != "" {
				says = redact.Line(i.Problem, command.SayAtMost)
			}
			a.Print("%-10s %-12s %s\n", i.Driver, i.Name, says)
			continue
		}
		if i.Problem != "" {
			a.Print("%-10s %-12s %s; %s\n", i.Driver, i.Name, redact.Line(i.Version, 60), redact.Line(i.Problem, command.SayAtMost))
			continue
		}
		says := "no way to its model yet: log in by starting it once, or export its key"
		switch i.Login {
		case config.LoginKey:
			says = "key in " + i.Key
			if i.URL != "" {
				says += " for " + redact.Line(i.URL, 200) + " (" + i.URLFrom + ")"
			}
		case config.LoginOwn:
			says = "login in ~/" + i.Folder
		}
		a.Print("%-10s %-12s %s; %s\n", i.Driver, i.Name, redact.Line(i.Version, 60), says)
	}
	return nil
}
