package app

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/problem"
	"signalbox/internal/wire"
)

// NewRequest opens a request with a new id and number. Without a title it is the description's first line, without a Markdown heading's
// marks.
func (p *App) NewRequest(ctx context.Context, title, description string) (forge.Request, error) {
	if title == "" {
		first, rest, _ := strings.Cut(strings.TrimSpace(description), "\n")
		title, description = strings.TrimSpace(strings.TrimLeft(first, "# ")), strings.TrimSpace(rest)
	}
	if strings.TrimSpace(title) == "" {
		return forge.Request{}, &problem.Error{Err: errors.New("a request needs a title"), Hint: `signalbox new "what should be different"`, Code: problem.Usage}
	}
	request, err := p.Forge.OpenRequest(ctx, "new/"+rand.Text(), title, description)
	return request, wire.Explained(err)
}
