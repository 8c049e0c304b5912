package wire

import (
	"context"
	"slices"
	"strings"
	"time"

	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/forge/local"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/wire/hosting"
)

// forge is the forge that the configuration names.
func (p *Project) forge() forge.Forge {
	c := local.Config{Repo: p.Repo, Store: p.Store, Root: p.Root, Test: p.testCandidate, Sign: git.Signing(p.Config.Commit.Sign),
		Unpublished: p.Config.Push == config.PushNever, Hosted: p.Config.Forge.Hosted(), Logger: p.Log}
	if !c.Hosted {
		return local.New(c)
	}
	remote := func(ctx context.Context) (string, error) {
		r, err := p.Repo.Remote(ctx, Remote)
		return r.URL, err
	}
	p.Hosted = hosting.New(hosting.Config{Settings: p.Config.Forge, Remote: remote, Files: local.New(c), Store: p.Store, Exec: p.Host(), Env: p.Env,
		Proxy: p.Proxy(), Roots: p.Certificates, Redact: p.Redact, Within: func(path string) string { return Within(p.Root, path) }, Clock: time.Now, Logger: p.Log})
	return p.Hosted
}

// withoutToken starts programs that need no forge.
type withoutToken struct {
	process.Executor
	names []string
}

// Exec implements process.Executor.
func (w withoutToken) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	c.Env = slices.DeleteFunc(slices.Clone(c.Env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(w.names, name)
	})
	return w.Executor.Exec(ctx, c)
}
