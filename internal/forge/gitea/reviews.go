package gitea

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"signalbox/internal/forge"
)

// Reviews returns the latest review of each person.
func (s *Server) Reviews(ctx context.Context, number int) ([]forge.Review, error) {
	found, err := s.reviews(ctx, number)
	if err != nil {
		return nil, err
	}
	var latest []forge.Review
	for _, r := range found { // the oldest comes first
		state, known := reviewStates[r.State]
		if !known || r.Dismissed {
			continue
		}
		converted := forge.Review{Author: r.User.Login, Commit: r.CommitID, State: state, Body: r.Body, Page: r.HTMLURL, At: r.SubmittedAt}
		i := slices.IndexFunc(latest, func(l forge.Review) bool { return l.Author == converted.Author })
		switch {
		case i < 0:
			latest = append(latest, converted)
		case state != forge.Commented || latest[i].State == forge.Commented: // a comment takes no judgement back
			latest[i] = converted
		}
	}
	return latest, nil
}

const maxReviews = 500

// reviews returns all reviews, the oldest first.
func (s *Server) reviews(ctx context.Context, number int) ([]review, error) {
	found, err := pages[review](ctx, s, request{method: http.MethodGet, path: "pulls/%d/reviews", args: []any{number}}, maxReviews)
	if err != nil {
		return nil, fmt.Errorf("list reviews of %d: %w", number, err)
	}
	return found, nil
}

// place is where Gitea shows comments as one discussion: a line of the new file or, if that is 0, of the old one.
type place struct {
	path      string
	line, old int
}

// Threads reads the comments of all reviews. Gitea has no discussions of its own: those on one line are one, resolved if its first comment is.
func (s *Server) Threads(ctx context.Context, number int) ([]forge.Thread, error) {
	reviews, err := s.reviews(ctx, number)
	if err != nil {
		return nil, err
	}
	var all []lineComment
	for _, r := range reviews {
		if r.Comments == 0 {
			continue
		}
		var said []lineComment
		if _, err := s.call(ctx, request{method: http.MethodGet, path: "pulls/%d/reviews/%d/comments", args: []any{number, r.ID}, out: &said}); err != nil {
			return nil, fmt.Errorf("list the comments of a review of %d: %w", number, err)
		}
		all = append(all, said...)
	}
	slices.SortFunc(all, func(a, b lineComment) int { return cmp.Compare(a.ID, b.ID) })
	var threads []forge.Thread
	at := map[place]int{}
	for _, c := range all {
		where := place{c.Path, c.Position, c.OriginalPosition}
		i, known := at[where]
		if !known {
			i, at[where] = len(threads), len(threads)
			threads = append(threads, forge.Thread{ID: strconv.FormatInt(c.ID, 10), Path: c.Path, Line: c.Position, Resolved: c.Resolver != nil})
		}
		threads[i].Remarks = append(threads[i].Remarks, forge.Remark{ID: c.ID, On: forge.OnPull(number), Author: c.User.Login, ByBot: c.User.bot(), Body: c.Body, Page: c.HTMLURL,
			Edited: !c.UpdatedAt.Equal(c.CreatedAt), CreatedAt: c.CreatedAt})
	}
	return threads, nil
}

// Answer replies on the thread's line, and then resolves if asked to. An empty body is no reply, and there is none where the line is gone.
func (s *Server) Answer(ctx context.Context, number int, t forge.Thread, body string, resolve bool) error {
	if body != "" && t.Line > 0 {
		reply := map[string]any{"event": "COMMENT", "comments": []map[string]any{{"path": t.Path, "new_position": t.Line, "body": body}}}
		if _, err := s.call(ctx, request{method: http.MethodPost, path: "pulls/%d/reviews", args: []any{number}, in: reply}); err != nil {
			return fmt.Errorf("answer in a thread of %d: %w", number, err)
		}
	}
	if !resolve || t.Resolved {
		return nil
	}
	if _, err := s.call(ctx, request{method: http.MethodPost, path: "pulls/comments/%s/resolve", args: []any{t.ID}}); err != nil {
		return fmt.Errorf("resolve a thread of %d: %w", number, err)
	}
	return nil
}
