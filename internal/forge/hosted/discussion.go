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
	issue, err := f.issue(ctx, ref)
	if err != nil {
		return forge.Request{}, err
	}
	return f.discussed(ctx, issue, nil)
}

func (f *Forge) discussed(ctx context.Context, issue forge.Issue, asOf *ordered) (forge.Request, error) {
	r := requestOf(issue)
	remarks, err := f.Server.Remarks(ctx, forge.OnIssue(r.Number))
	if err != nil {
		return r, err
	}
	me, err := f.account(ctx)
	if err != nil {
		return r, err
	}
	if r.Said, err = said(remarks, me.Name, func(place int) (bool, error) { return asOf.counts(ctx, remarks, place) }); err != nil {
		return r, err
	}
	if err := f.link(ctx, &r); err != nil {
		return r, err
	}
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
		if other.Closed = issue.Closed; asOf.older(issue.UpdatedAt) {
			other.Title = redact.Line(issue.Title, maxTitle)
		}
		related = append(related, other)
	}
	r.Related = related
	return r, nil
}

// said returns the newest comments that count, oldest first, without ours and without orders to us.
func said(remarks []forge.Remark, me string, counts func(place int) (bool, error)) (kept []forge.Said, err error) {
	left := maxSaidBytes
	for place, r := range slices.Backward(remarks) {
		if len(kept) == maxSaid || left <= 0 {
			break
		}
		body := strings.TrimSpace(visible(redact.Clean(r.Body)))
		if r.Author == me && anyMark.Regexp().MatchString(r.Body) || isOrder(body) || body == "" {
			continue
		}
		if does, err := counts(place); err != nil {
			return nil, err
		} else if !does {
			continue
		}
		body = redact.Cut(body, left)
		left -= len(body)
		kept = append(kept, forge.Said{Author: redact.Line(r.Author, maxLabelText), Bot: r.ByBot, Body: body})
	}
	slices.Reverse(kept)
	return kept, nil
}
