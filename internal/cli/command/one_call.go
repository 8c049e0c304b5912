package command

import (
	"context"

	"signalbox/internal/app"
	"signalbox/internal/git/gitcmd"
)

// OpenForCall opens o's project as it is now, for one call to a front end that lives long, and returns what closes it again.
func OpenForCall(ctx context.Context, o *app.Opener) (context.Context, *app.App, func(), error) {
	ctx, endGit := gitcmd.Scope(ctx)
	opener := *o
	p, err := app.Open(ctx, &opener)
	if err != nil {
		endGit()
		return ctx, nil, nil, err
	}
	return ctx, p, func() {
		if err := p.Store.Close(); err != nil {
			opener.Log.Warn("close project", "err", err)
		}
		endGit()
	}, nil
}
