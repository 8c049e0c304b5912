package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"signalbox/internal/app/starter"
	"signalbox/internal/cli/command"
	"signalbox/internal/config"
	"signalbox/internal/problem"
)

func newInit(a *command.Invocation) *cobra.Command {
	var show bool
	c := &cobra.Command{
		Use: "init",
		RunE: func(c *cobra.Command, _ []string) error {
			if show && a.JSON {
				return &problem.Error{Err: errors.New("--print prints YAML, not JSON"), Hint: command.UsageHint(c), Code: problem.Usage}
			}
			if show {
				a.Print("%s", starter.Configuration)
				return nil
			}
			return initialize(c.Context(), a)
		},
	}
	c.Flags().BoolVar(&show, "print", false, "print the commented configuration and write nothing")
	return c
}

func initialize(ctx context.Context, a *command.Invocation) error {
	p, err := a.Open(ctx)
	if err != nil {
		return err
	}
	done, err := starter.Prepare(ctx, p.App, a.Opener.Installed(ctx))
	switch {
	case err != nil:
		return err
	case p.JSON:
		return p.PrintJSON(done.Files)
	}
	for _, file := range done.Files {
		word := "is there already"
		if file.Written {
			word = "written"
		}
		p.Print("%-26s %s\n", file.Name, word)
	}
	first := "name your agent in " + config.Name
	switch {
	case done.Agent != nil:
		first = fmt.Sprintf("look at %s: %s is on this machine and named as the agent", config.Name, done.Agent.Name)
	case done.Configured:
		first = "look at " + config.Name
	}
	p.Print("\nNext:\n  1. %s\n  2. signalbox new \"what should be different\"\n"+
		"  3. signalbox doctor\n  4. signalbox run 1\n", first)
	return nil
}
