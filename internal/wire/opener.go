package wire

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"signalbox/internal/environment/clone/seccomp"
	"signalbox/internal/forge/local"
	"signalbox/internal/process"
	"signalbox/internal/redact"
)

// Opener opens projects: what a front end says of the user and of what was asked for.
type Opener struct {
	// Env is the user's variables, Dir where they are.
	Env func(string) string
	Dir string
	// Clock is what the self-healing loop waits by; nil is this machine's.
	Clock func() time.Time
	// Warn tells the user something, Mended what was read in an older form. Learn hears of the secrets that no output may show.
	Warn   func(format string, args ...any)
	Mended func(path string, notes []string)
	Learn  func(*redact.Redactor)
	// AskTrust asks the user to agree to what the project's files do to this machine; nil refuses.
	AskTrust func(context.Context, *Project) error
	// Notices are the notifications on their way.
	Notices *sync.WaitGroup
	Log     *slog.Logger
	// Overrides win over the configuration; zero values mean none.
	Overrides overrides
	// WithoutAgents: the command carries no agent on, so it works without what the configuration does to this machine.
	WithoutAgents bool
	// Obeys: the command obeys the project's files, as its user agreed; else it only shows.
	Obeys bool
	// LooksAtTrust: the command asks what that is, and --trust is no answer.
	LooksAtTrust bool
}

// Now is what time it is for the self-healing loop, whose waits are longer than anybody would watch.
func (a *Opener) Now() time.Time {
	if a.Clock != nil {
		return a.Clock()
	}
	return time.Now()
}

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

// Remote is the remote that branches and merges are pushed to.
const Remote = local.Remote

// Filters reports whether this machine lets a sandbox close system calls.
func Filters() bool { return seccomp.Filters() }
