package wire

import (
	"context"
	"time"

	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/forge/local"
	"signalbox/internal/git"
	"signalbox/internal/wire/folder"
	"signalbox/internal/wire/hosting"
)

// forge is the forge that the configuration names.
func (p *Project) forge() forge.Forge {
	c := local.Config{Repo: p.Repo, Store: p.Store, Root: p.Root, Test: p.testCandidate, Sign: git.Signing(p.Config.Commit.Sign),
		Unpublished: p.Config.Push == config.PushNever, Hosted: p.Config.Forge.Hosted(), Logger: p.Log}
	if !c.Hosted {
		return local.New(c)
	}
	c.Forks = func(ctx context.Context, fork string) (string, error) {
		all, err := p.Repo.Remotes(ctx)
		if err != nil {
			return "", err
		}
		remotes := map[string]string{}
		for _, r := range all {
			remotes[r.Name] = r.URL
		}
		return hosting.ForkAddress(p.Config.Forge, remotes, fork)
	}
	p.Hosted = hosting.New(hosting.Config{Settings: p.Config.Forge, Remote: p.remote, Fork: c.Forks, Files: local.New(c), Store: p.Store, Exec: p.Host(), Env: p.Env,
		Proxy: p.Proxy(), Roots: p.Certificates, Redact: p.Redact, Within: func(path string) string { return folder.Within(p.Root, path) }, Clock: time.Now, Logger: p.Log})
	return p.Hosted
}

// remote is the address of the remote that branches are pushed to.
func (p *Project) remote(ctx context.Context) (string, error) {
	r, err := p.Repo.Remote(ctx, Remote)
	return r.URL, err
}

// FoundForge is the driver for the server of the remote that branches are pushed to, and the repository's page there; both are empty if the server's name
// says nothing.
func (p *Project) FoundForge(ctx context.Context) (driver, page string) {
	remote, err := p.remote(ctx)
	if err != nil {
		return "", ""
	}
	return hosting.Guess(remote)
}
