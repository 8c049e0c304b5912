package hosting

import (
	"context"
	"slices"
	"strings"

	"signalbox/internal/process"
)

// WithoutToken starts programs that need no forge: they don't get the variables with these names.
type WithoutToken struct {
	process.Executor
	Names []string
}

// Exec implements process.Executor.
func (w WithoutToken) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	c.Env = slices.DeleteFunc(slices.Clone(c.Env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(w.Names, name)
	})
	return w.Executor.Exec(ctx, c)
}
