package hosted

import (
	"context"
	"errors"
	"slices"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/redact"
)

// Limits of the comments that an agent is shown: the newest, and bytes of all together.
const (
	maxSaid      = 30
	maxSaidBytes = 16 << 10
)

// Discussed returns the issue with this number or page, the comments below it and the names of what it links to. It costs one call for the
// comments and one for each related issue.
func (f *Forge) Discussed(ctx context.Context, ref string) (forge.Request, error) {
	r, err := f.Request(ctx, ref)
	if err != nil {
		return r, err
	}
	remarks, err := f.Server.Remarks(ctx, forge.OnIssue(r.Number))
	if err != nil {
		return r, err
	}
	me, err := f.account(ctx)
	if err != nil {
		return r, err
	}
	r.Said = said(remarks, me.Name)
	for _, s := range r.Said {
		r.Attachments = attachments(r.Attachments, s.Body)
	}
	var related []forge.Related
	for _, other := range r.Related {
		issue, err := f.Server.Issue(ctx, other.Number)
		if errors.Is(err, forge.ErrNotFound) {
			continue // a pull request, or gone
		}
		if err != nil {
			return r, err
		}
		other.Title, other.Closed = redact.Line(issue.Title, maxTitle), issue.Closed
		related = append(related, other)
	}
	r.Related = related
	return r, nil
}

// said returns the newest comments, oldest first, without ours and without orders to us.
func said(remarks []forge.Remark, me string) (kept []forge.Said) {
	left := maxSaidBytes
	for _, r := range slices.Backward(remarks) {
		if len(kept) == maxSaid || left <= 0 {
			break
		}
		body := strings.TrimSpace(visible(redact.Clean(r.Body)))
		if r.Author == me && anyMark.Regexp().MatchString(r.Body) || isOrder(body) || body == "" {
			continue
		}
		body = redact.Cut(body, left)
		left -= len(body)
		kept = append(kept, forge.Said{Author: redact.Line(r.Author, maxLabelText), Bot: r.ByBot, Body: body})
	}
	slices.Reverse(kept)
	return kept
}
