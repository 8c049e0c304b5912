package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// MergeProposal merges by the first way that the repository and the base branch's rules allow. head guards it.
func (s *Server) MergeProposal(ctx context.Context, number int, head, message string) error {
	r, err := s.Repository(ctx)
	if err != nil {
		return err
	}
	title, body, _ := strings.Cut(message, "\n")
	for _, method := range r.Methods {
		asked := map[string]string{"commit_message": strings.TrimSpace(body), "sha": head, "merge_method": method}
		if title != "" {
			asked["commit_title"] = title
		}
		_, err = s.transport.Do(ctx, rest.Call{Method: http.MethodPut, Path: "pulls/%d/merge", Args: []any{number}, In: asked})
		if !s.says(err, "not allowed") { // a ruleset allows fewer ways than the repository
			break
		}
	}
	if err != nil {
		err = s.notMerged(ctx, number, head, s.transport.Judged(err))
	}
	return s.wrap(err, "merge pull request %d", number)
}

// notMerged says why GitHub refused. 405 stands for nearly everything, in words that change: the pull request itself tells.
func (s *Server) notMerged(ctx context.Context, number int, head string, refused error) error {
	var failure *forge.Failure
	if !errors.As(refused, &failure) || failure.Kind != forge.Refused {
		return refused
	}
	p, _, err := rest.Get[pullAnswer](ctx, s.transport, nil, "pulls/%d", number)
	switch {
	case err != nil:
		return err
	case p.Merged:
		return nil
	case p.State != "open":
		return refused
	case p.Head.SHA != head:
		return forge.ErrHeadMoved
	case p.Mergeable != nil && !*p.Mergeable:
		return forge.ErrConflict
	case failure.Status == http.StatusMethodNotAllowed && !strings.Contains(failure.Message, "not allowed"), failure.Status == http.StatusConflict:
		return fmt.Errorf("%w (the server says %q)", forge.ErrNotReady, failure.Message)
	}
	return refused
}

// Enqueue puts the pull request into the merge queue. One that is in it, or merged, stays as it is.
func (s *Server) Enqueue(ctx context.Context, number int, head string) error {
	p, err := s.queuing(ctx, number)
	switch {
	case err != nil:
	case p.State == "MERGED":
	case p.HeadRefOid != head:
		err = forge.ErrHeadMoved
	case p.MergeQueueEntry == nil:
		err = s.query(ctx, enqueueMutation, map[string]any{"pull": p.ID, "head": head}, nil)
	}
	return s.wrap(err, "enqueue pull request %d", number)
}

// Queued reports whether a pull request is in the merge queue.
func (s *Server) Queued(ctx context.Context, number int) (bool, error) {
	p, err := s.queuing(ctx, number)
	return p.MergeQueueEntry != nil, s.wrap(err, "read the merge queue's entry of %d", number)
}

// queuing is what GitHub has of a pull request that its queue may merge.
type queuing struct {
	ID, State, HeadRefOid string
	MergeQueueEntry       *struct{ ID string }
}

func (s *Server) queuing(ctx context.Context, number int) (queuing, error) {
	var answer struct {
		Repository struct{ PullRequest queuing }
	}
	err := s.query(ctx, queueQuery, s.numbered(number), &answer)
	if err == nil && answer.Repository.PullRequest.ID == "" {
		err = errNoData
	}
	return answer.Repository.PullRequest, err
}

func (s *Server) numbered(number int) map[string]any {
	return map[string]any{"owner": s.owner, "name": s.name, "number": number}
}
