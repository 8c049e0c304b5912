package env

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/environment/cache"
	"signalbox/internal/redact"
)

func newEnvCache(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{Use: "cache"}
	c.AddCommand(newEnvCacheList(a), newEnvCachePrune(a))
	return c
}

func newEnvCacheList(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "list", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.Open(c.Context())
			if err != nil {
				return err
			}
			defer func() { _ = p.Store.Close() }()
			p.WarnOfConfig()
			cached, err := environments.Cached(c.Context(), p.App)
			if err != nil {
				return err
			}
			return a.Show(cached, func() {
				switch {
				case len(cached) == 0 && p.Config.Environment.Cache == 0:
					a.Say("nothing is cached: environment.cache is 0")
					return
				case len(cached) == 0:
					a.Say("nothing is cached")
					return
				}
				var rows [][]string
				for _, e := range cached {
					rows = append(rows, []string{shortKey(&e), diskSize(e.Bytes), commandline.When(e.Used), e.Environment, cmp.Or(strings.Join(e.Users, ","), "-")})
				}
				a.PrintTable("KEY\tSIZE\tLAST USED\tMADE IN\tIN USE BY", rows)
			})
		},
	}
}

func newEnvCachePrune(a *command.Invocation) *cobra.Command {
	var dry, all bool
	c := &cobra.Command{
		Use: "prune", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.Open(c.Context())
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
			gone, cached, err := environments.Prune(c.Context(), p.App, limit, dry)
			if err != nil {
				return err
			}
			return a.Show(gone, func() { printPruned(a, gone, cached, limit, dry) })
		},
	}
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "only say what would be deleted")
	c.Flags().BoolVar(&all, "all", false, "delete every cached environment that isn't in use")
	return c
}

// printPruned says what is deleted, why the rest stays, and how to free the part in use.
func printPruned(a *command.Invocation, gone, cached []cache.Entry, limit int64, dry bool) {
	done, freed, total := "deleted", int64(0), int64(0)
	if dry {
		done = "would delete"
	}
	for _, e := range gone {
		freed += e.Bytes
		a.Print("%s %s (%s, made in %s)\n", done, shortKey(&e), diskSize(e.Bytes), e.Environment)
	}
	if len(gone) == 0 {
		a.Print("nothing to delete\n")
	} else {
		a.Print("%s %d, %s in all\n", done, len(gone), diskSize(freed))
	}
	for _, e := range cached {
		total += e.Bytes
		if len(e.Users) > 0 {
			a.Print("kept %s (%s): in use by %s\n", shortKey(&e), diskSize(e.Bytes), redact.Line(strings.Join(e.Users, ", "), 300))
		}
	}
	switch {
	case len(cached) == 0:
	case total > limit:
		a.Print("kept %d, %s in all: to free what is in use, end its run, or: signalbox env remove ENV_ID\n", len(cached), diskSize(total))
	default:
		a.Print("kept %d, %s in all, of the %s that environment.cache allows\n", len(cached), diskSize(total), diskSize(limit))
	}
}

// shortKey is enough of a key to tell it from others.
func shortKey(e *cache.Entry) string {
	name := fmt.Sprintf("%.12s", e.Key)
	if e.Forgotten {
		name += " (forgotten)"
	}
	return redact.Line(name, 40)
}

// diskSize is a size as the configuration writes it.
func diskSize(bytes int64) string {
	for i, unit := range []string{"T", "G", "M", "K"} {
		if one := int64(1) << (40 - 10*i); bytes >= one {
			return fmt.Sprintf("%.1f%s", float64(bytes)/float64(one), unit)
		}
	}
	return fmt.Sprintf("%d", bytes)
}
