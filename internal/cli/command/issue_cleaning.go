package command

import (
	"context"

	"signalbox/internal/app"
)

func CleanIssues(ctx context.Context, a *Invocation, c *app.IssueCleanup) error {
	c.Say = a.Print
	s, err := a.Opener.OpenStoreToChange(ctx, c.Dry)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	return c.In(ctx, s)
}
