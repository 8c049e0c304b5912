package env

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/environment/cache"
	"signalbox/internal/redact"
)

func newEnvCachePrune(a *command.Invocation) *cobra.Command {
	var dry, all bool
	c := &cobra.Command{
		Use:  "prune",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return pruneCache(c.Context(), a, dry, all) },
	}
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "only say what would be deleted")
	c.Flags().BoolVar(&all, "all", false, "delete everything that nothing stands on")
	return c
}

func pruneCache(ctx context.Context, a *command.Invocation, dry, all bool) error {
	p, err := a.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = p.Store.Close() }()
	limit := int64(p.Config.Environment.Cache)
	switch {
	case all:
		p.WarnOfConfig()
		limit = 0
	case p.ConfigError != nil:
		return p.ConfigError
	}
	gone, kept, err := environments.Prune(ctx, p.App, limit, dry)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(gone)
	}
	printDeleted(a, gone, dry)
	printStaying(a, kept, limit)
	return nil
}

func printDeleted(a *command.Invocation, gone []cache.Entry, dry bool) {
	done, total := "deleted", int64(0)
	if dry {
		done = "would delete"
	}
	for _, e := range gone {
		total += e.Bytes
		a.Print("%s %s (%s, made in %s)\n", done, keptName(&e), diskSize(e.Bytes), e.Environment)
	}
	if len(gone) == 0 {
		a.Print("nothing to delete\n")
		return
	}
	a.Print("%s %d, %s in all\n", done, len(gone), diskSize(total))
}

// printStaying says why something stays, and how what is in use could be freed.
func printStaying(a *command.Invocation, kept []cache.Entry, limit int64) {
	var total int64
	for _, e := range kept {
		total += e.Bytes
		if len(e.Users) > 0 {
			a.Print("kept %s (%s): in use by %s\n", keptName(&e), diskSize(e.Bytes), redact.Line(strings.Join(e.Users, ", "), 300))
		}
	}
	switch {
	case len(kept) == 0:
	case total > limit:
		a.Print("kept %d, %s in all: to free what is in use, end its run, or: signalbox env remove ENV_ID\n", len(kept), diskSize(total))
	default:
		a.Print("kept %d, %s in all, of the %s that environment.cache allows\n", len(kept), diskSize(total), diskSize(limit))
	}
}
