package wire

import (
	"context"
	"slices"

	"signalbox/internal/process"
)

// gitHost runs git for a command that only shows. An object that a partial clone lacks is not fetched there: the way to
// it is the repository's to say, and can be any program.
type gitHost struct {
	process.Host
	app *Opener
}

func (a *Opener) GitHost() gitHost { return gitHost{a.Host(), a} }

// Exec implements process.Executor.
func (h gitHost) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	if !h.app.Obeys && !slices.Contains(c.Args, "fetch") { // what is fetched by name comes from a folder of this machine
		c.Env = append(slices.Clip(c.Env), "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1")
	}
	return h.Host.Exec(ctx, c)
}
