package gitlab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// Proposal returns a merge request.
func (s *Server) Proposal(ctx context.Context, number int) (forge.Proposal, error) {
	m, err := s.mergeRequest(ctx, number)
	if err != nil {
		return forge.Proposal{}, s.wrap(err, "read merge request %d", number)
	}
	p, err := s.proposal(ctx, m)
	return p, s.wrap(err, "read merge request %d", number)
}

func (s *Server) mergeRequest(ctx context.Context, number int) (m mergeRequest, err error) {
	m, _, err = rest.Get[mergeRequest](ctx, s.transport, nil, "merge_requests/%d", number)
	return m, err
}

// ProposalOf returns the newest merge request from a branch.
func (s *Server) ProposalOf(ctx context.Context, fork, branch string) (newest forge.Proposal, err error) {
	var from project
	if fork != "" {
		if from, err = s.projectAt(ctx, fork); err != nil {
			return newest, s.wrap(err, "find the fork %s", fork)
		}
	}
	err = rest.Pages(func(page url.Values) ([]mergeRequest, *http.Response, error) {
		return rest.Get[[]mergeRequest](ctx, s.transport, rest.Filtered(page, "source_branch", branch, "scope", "all", "state", "all", "order_by", "created_at", "sort", "desc"), "merge_requests")
	}, func(m mergeRequest) bool {
		if m.Branch == branch && (m.From == from.ID || fork == "" && m.From == m.Into) && m.IID > newest.Number {
			newest = m.convert()
			newest.Fork = from.Path
		}
		return newest.Number == 0
	})
	if err == nil && newest.Number == 0 {
		err = forge.ErrNotFound
	}
	return newest, s.wrap(err, "find the merge request of branch %q", branch)
}

// Propose opens a merge request.
func (s *Server) Propose(ctx context.Context, p forge.Proposal) (forge.Proposal, error) {
	var opened mergeRequest
	asked := map[string]any{"source_branch": p.Branch, "target_branch": p.Base, "title": titled(p.Title, p.Draft), "description": p.Body, "remove_source_branch": false}
	open := rest.Call{Method: http.MethodPost, Path: "merge_requests", Out: &opened, In: asked}
	if p.Fork != "" {
		into, err := s.project(ctx)
		if err != nil {
			return forge.Proposal{}, s.wrap(err, "open a merge request of %q", p.Branch)
		}
		asked["target_project_id"] = into.ID
		open.Root, open.Path, open.Args = "projects", "%s/merge_requests", []any{p.Fork}
	}
	_, err := s.transport.Do(ctx, open)
	if f, conflicts := status(err, http.StatusConflict); conflicts {
		err = fmt.Errorf("%w: the server says %q", forge.ErrExists, f.Message)
	}
	if err != nil {
		return forge.Proposal{}, s.wrap(err, "open a merge request of %q", p.Branch)
	}
	made := opened.convert()
	made.Fork = p.Fork
	return made, nil
}

// EditProposal changes title, body and draft.
func (s *Server) EditProposal(ctx context.Context, p forge.Proposal) error {
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPut, Path: "merge_requests/%d", Args: []any{p.Number},
		In: map[string]string{"title": titled(p.Title, p.Draft), "description": p.Body}})
	return s.wrap(err, "edit merge request %d", p.Number)
}

// CloseProposal closes a merge request.
func (s *Server) CloseProposal(ctx context.Context, number int) error {
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPut, Path: "merge_requests/%d", Args: []any{number}, In: map[string]string{"state_event": "close"}})
	return s.wrap(err, "close merge request %d", number)
}

// MergeProposal looks at what GitLab says first: its refusals of a merge don't tell a conflict from a missing pipeline.
func (s *Server) MergeProposal(ctx context.Context, number int, head, message string) error {
	m, err := s.mergeRequest(ctx, number)
	if err == nil && m.State != "merged" {
		if err = m.mergeable(head); err == nil {
			err = s.merge(ctx, number, head, message)
		}
	}
	return s.wrap(err, "merge merge request %d", number)
}

// mergeable is nil if a merge may be tried. What is not computed yet, GitLab computes when it is asked to merge.
func (m mergeRequest) mergeable(head string) error {
	switch {
	case m.Head != head:
		return fmt.Errorf("it is at %q: %w", m.Head, forge.ErrHeadMoved)
	case m.State == "closed":
		return &forge.Failure{Kind: forge.Refused, Err: errors.New("it is closed")}
	case m.Standing == "conflict" || m.Conflicts:
		return forge.ErrConflict
	case m.Standing == "need_rebase":
		return fmt.Errorf("%w: the project merges only what is based on its newest commit", forge.ErrConflict)
	case m.Standing == "mergeable", m.Standing == "unchecked", m.Standing == "checking", m.Standing == "preparing", m.Standing == "":
		return nil
	}
	return fmt.Errorf("%w: GitLab says %q", forge.ErrNotReady, m.Standing)
}

func (s *Server) merge(ctx context.Context, number int, head, message string) error {
	_, refused := s.transport.Do(ctx, rest.Call{Method: http.MethodPut, Path: "merge_requests/%d/merge", Args: []any{number}, In: map[string]any{
		"sha": head, "merge_commit_message": message, "squash_commit_message": message, "should_remove_source_branch": false,
	}})
	var f *forge.Failure
	if !errors.As(refused, &f) {
		return refused
	}
	switch f.Status {
	case http.StatusUnauthorized: // the token was just good enough to read: the account may not merge into this branch
		f.Kind = forge.Forbidden
	case http.StatusConflict:
		return fmt.Errorf("%w: the server says %q", forge.ErrHeadMoved, f.Message)
	case http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusUnprocessableEntity:
		m, err := s.mergeRequest(ctx, number)
		switch {
		case err != nil:
			return err
		case m.State == "merged":
			return nil
		}
		if err := m.mergeable(head); err != nil {
			return err
		}
		return fmt.Errorf("%w: the server says %q", forge.ErrNotReady, f.Message)
	}
	return f
}

// Queued reports whether a merge request is on the merge train. GitLab remembers those that were.
func (s *Server) Queued(ctx context.Context, number int) (bool, error) {
	car, _, err := rest.Get[struct{ Status string }](ctx, s.transport, nil, "merge_trains/merge_requests/%d", number)
	if errors.Is(err, forge.ErrNotFound) {
		return false, nil
	}
	return slices.Contains([]string{"idle", "fresh", "stale", "merging"}, car.Status), s.wrap(err, "read the place of merge request %d on the merge train", number)
}

// Enqueue puts a merge request onto the merge train of its target branch, at once: its pipeline was waited for. Only some plans have trains. GitLab
// refuses one that is on it, so an answer that was lost is found by looking first.
func (s *Server) Enqueue(ctx context.Context, number int, head string) error {
	if there, err := s.Queued(ctx, number); there || err != nil {
		return err
	}
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPost, Path: "merge_trains/merge_requests/%d", Args: []any{number}, In: map[string]any{"sha": head}})
	if f, conflicts := status(err, http.StatusConflict); conflicts {
		err = fmt.Errorf("%w: the server says %q", forge.ErrHeadMoved, f.Message)
	}
	return s.wrap(err, "put merge request %d onto the merge train", number)
}
