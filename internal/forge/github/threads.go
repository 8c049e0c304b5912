package github

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
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
	Association    string `json:"authorAssociation"`
	// Author is nil if the account was deleted.
	Author *struct {
		Typename string `json:"__typename"`
		Login    string
	}
}

// seenThreads are the discussions of a pull request when they were read.
type seenThreads struct {
	found []forge.Thread
	// read is when, and updated when the pull request changed last, by the server's clock.
	read, updated time.Time
}

const (
	// sameLook is how long what was read of a pull request serves the same look at it.
	sameLook = 5 * time.Second
	// settled is how long after a change all of GitHub's servers are sure to show it.
	settled = time.Minute
	// seenFor is how long the discussions of a pull request that doesn't change are good. A comment changes it; that someone resolved or reopened a
	// discussion may not.
	seenFor = 30 * time.Minute
	// maxSeen bounds the memory for discussions.
	maxSeen = 500
)

// Threads returns all discussions, resolved ones too, each with its first 50 comments. GraphQL confirms nothing for free, so they are read again only
// if the pull request, which REST confirms, has changed since.
func (s *Server) Threads(ctx context.Context, number int) ([]forge.Thread, error) {
	pull, _, err := rest.Get[pullAnswer](forge.Recent(ctx, sameLook), s.transport, nil, "pulls/%d", number)
	if err != nil {
		return nil, s.wrap(err, "read pull request %d", number)
	}
	if pull.ReviewComments != nil && *pull.ReviewComments == 0 {
		return nil, nil
	}
	now := s.now().Add(s.transport.Skew())
	s.mu.Lock()
	seen, known := s.threads[number]
	s.mu.Unlock()
	if known && seen.updated.Equal(pull.UpdatedAt) && seen.read.Sub(seen.updated) >= settled && now.Sub(seen.read) <= seenFor {
		return slices.Clone(seen.found), nil
	}
	found, err := s.readThreads(ctx, number)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.threads == nil || len(s.threads) >= maxSeen {
			s.threads = map[int]seenThreads{}
		}
		s.threads[number] = seenThreads{slices.Clone(found), now, pull.UpdatedAt}
	}
	return found, err
}

func (s *Server) readThreads(ctx context.Context, number int) (found []forge.Thread, err error) {
	variables := s.numbered(number)
	for range rest.MaxPages {
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
		r := forge.Remark{ID: id, On: on, Body: c.Body, Page: c.URL, Edited: c.LastEditedAt != nil, CreatedAt: c.CreatedAt, Member: belongs(c.Association)}
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
	s.mu.Lock()
	delete(s.threads, number) // who looks whether this was performed must see it
	s.mu.Unlock()
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
