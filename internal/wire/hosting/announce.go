package hosting

import (
	"context"

	"signalbox/internal/forge"
)

var _ forge.Announcer = (*Forge)(nil)

// Announce tells of a run on its issue and pull request, or in the notes of a file.
func (f *Forge) Announce(ctx context.Context, request forge.Request, a forge.Announcement) error {
	if request.Path != "" {
		return f.config.Files.Comment(ctx, request, forge.ProgressComment, a.Progress)
	}
	b, err := f.open(ctx)
	if err == nil {
		err = b.explained(b.forge.Announce(ctx, request, a), writeIssues)
	}
	return err
}
