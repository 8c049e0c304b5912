package environments

import (
	"context"
	"path/filepath"

	"signalbox/internal/app"
	"signalbox/internal/config"
	"signalbox/internal/environment/detect"
	"signalbox/internal/git"
	"signalbox/internal/problem"
	"signalbox/internal/wire"
)

// Detected is what the files of a project say about its environment. Its text is untrusted.
type Detected struct {
	detect.Result
	// SetUp is the setup that a run would begin with.
	SetUp wire.PlannedSetUp
	// Hide masks the secrets that the configuration names.
	Hide func(string) string
}

// Detect reads the files of o's project as they are now and runs nothing. language is the task's, empty if unknown.
func Detect(ctx context.Context, o *app.Opener, language string) (d Detected, err error) {
	repo, err := git.Open(ctx, o.GitHost(), o.Dir)
	if err != nil {
		return d, wire.Explained(err)
	}
	p := &wire.Project{Opener: o, Root: repo.Root(), Repo: repo}
	if p.Config, _, err = config.Load(filepath.Join(p.Root, config.Name), o.Env); err != nil {
		return d, &problem.Error{Err: err, Hint: wire.FixConfiguration}
	}
	if d.Result, err = p.DetectHere(ctx, language); err != nil {
		return d, wire.Explained(err)
	}
	d.Hide = o.LateRedactor(p.Root)
	d.SetUp, err = p.SetUpOf(&d.Result)
	return d, err
}
