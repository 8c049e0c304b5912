package env

import (
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
	c := &cobra.Command{
		Use: "cache",
	}
	c.AddCommand(newEnvCacheList(a), newEnvCachePrune(a))
	return c
}

func newEnvCacheList(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:  "list",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.Open(c.Context())
			if err != nil {
				return err
			}
			defer func() { _ = p.Store.Close() }()
			p.WarnOfConfig()
			kept, err := environments.Cached(c.Context(), p.App)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(kept)
			}
			if len(kept) == 0 && p.Config.Environment.Cache == 0 {
				a.Say("nothing is kept: environment.cache is 0")
				return nil
			}
			return printKept(a, kept)
		},
	}
}

func printKept(a *command.Invocation, kept []cache.Entry) error {
	if len(kept) == 0 {
		a.Say("nothing is kept")
		return nil
	}
	out, flush := a.Columns("KEY", "SIZE", "LAST USED", "MADE IN", "IN USE BY")
	for _, e := range kept {
		users := "-"
		if len(e.Users) > 0 {
			users = strings.Join(e.Users, ",")
		}
		_, _ = fmt.Fprintln(out, strings.Join([]string{keptName(&e), diskSize(e.Bytes), commandline.When(e.Used),
			redact.Line(e.Environment, 100), redact.Line(users, 200)}, "\t"))
	}
	return flush()
}

// keptName is enough of a key to tell it from others.
func keptName(e *cache.Entry) string {
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
