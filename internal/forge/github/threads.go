package github

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"signalbox/internal/forge"
)

// thread is a discussion as threadsQuery asks for it.
type thread struct {
	ID, Path   string
	Line       int
	IsResolved bool
	IsOutdated bool
	Comments   struct{ Nodes []threadComment }
}

type threadComment struct {
	// FullDatabaseID is a number in a string: it outgrew GraphQL's integers.
	FullDatabaseID string `json:"fullDatabaseId"`
	Body, URL      string
	CreatedAt      time.Time
	LastEditedAt   *time.Time
	// Author is nil if the account was deleted.
	Author *struct {
		Typename string `json:"__typename"`
		Login    string
	}
}

// Threads reads all discussions, resolved ones too, each with its first 50 comments.
func (s *Server) Threads(ctx context.Context, number int) (found []forge.Thread, err error) {
	variables := s.numbered(number)
	for range maxPages {
		var answer struct {
			Repository struct {
				PullRequest struct {
					ReviewThreads struct {
						PageInfo struct {
							HasNextPage bool
							EndCursor   string
						}
						Nodes []thread
					}
				}
			}
		}
		if err := s.query(ctx, threadsQuery, variables, &answer); err != nil {
			return nil, s.wrap(err, "read the threads of %d", number)
		}
		page := answer.Repository.PullRequest.ReviewThreads
		for _, t := range page.Nodes {
			found = append(found, t.converted(forge.OnPull(number)))
		}
		if !page.PageInfo.HasNextPage {
			return found, nil
		}
		variables["after"] = page.PageInfo.EndCursor
	}
	return nil, &forge.Failure{Kind: forge.Refused, Err: fmt.Errorf("pull request %d has too many threads", number)}
}

func (t thread) converted(on forge.Subject) forge.Thread {
	line := t.Line
	if t.IsOutdated {
		line = 0
	}
	converted := forge.Thread{ID: t.ID, Path: t.Path, Line: line, Resolved: t.IsResolved}
	for _, c := range t.Comments.Nodes {
		id, _ := strconv.ParseInt(c.FullDatabaseID, 10, 64) // 0 if it is none: nothing is edited by it
		r := forge.Remark{ID: id, On: on, Body: c.Body, Page: c.URL, Edited: c.LastEditedAt != nil, CreatedAt: c.CreatedAt}
		if c.Author != nil {
			r.Author, r.ByBot = c.Author.Login, c.Author.Typename == "Bot"
			if r.ByBot {
				r.Author += botSuffix // as REST names it
			}
		}
		converted.Remarks = append(converted.Remarks, r)
	}
	return converted
}

// Answer replies, and then resolves if asked to. An empty body is no reply.
func (s *Server) Answer(ctx context.Context, number int, t forge.Thread, body string, resolve bool) error {
	if body != "" {
		if err := s.query(ctx, replyMutation, map[string]any{"thread": t.ID, "body": body}, nil); err != nil {
			return s.wrap(err, "answer in a thread of %d", number)
		}
	}
	if !resolve || t.Resolved {
		return nil
	}
	return s.wrap(s.query(ctx, resolveMutation, map[string]any{"thread": t.ID}, nil), "resolve a thread of %d", number)
}
