package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

func (s *Server) Proposal(ctx context.Context, number int) (forge.Proposal, error) {
	found, _, err := rest.Get[pullAnswer](ctx, s.transport, nil, "pulls/%d", number)
	if err != nil {
		return forge.Proposal{}, s.wrap(err, "read pull request %d", number)
	}
	return proposal(found), nil
}

// ProposalOf compares what GitHub answers: a head that it can't parse is no filter for it.
func (s *Server) ProposalOf(ctx context.Context, fork, branch string) (newest forge.Proposal, err error) {
	err = rest.Pages(func(page url.Values) ([]pullAnswer, *http.Response, error) {
		query := rest.Filtered(page, "state", "all", "head", s.ownerOf(fork)+":"+branch, "sort", "created", "direction", "desc")
		return rest.Get[[]pullAnswer](ctx, s.transport, query, "pulls")
	}, func(p pullAnswer) bool {
		if found := proposal(p); found.Branch == branch && strings.EqualFold(found.Fork, fork) && found.Number > newest.Number {
			newest = found
		}
		return true
	})
	if err == nil && newest.Number == 0 {
		err = forge.ErrNotFound
	}
	return newest, s.wrap(err, "find the pull request of branch %s", branch)
}

// Propose opens a pull request. In private repositories on GitHub's free plan there are no drafts, and it opens one that is none.
func (s *Server) Propose(ctx context.Context, p forge.Proposal) (forge.Proposal, error) {
	asked := map[string]any{"title": p.Title, "body": p.Body, "head": s.ownerOf(p.Fork) + ":" + p.Branch, "base": p.Base, "draft": p.Draft}
	if owner, name, forked := strings.Cut(p.Fork, "/"); forked && strings.EqualFold(owner, s.owner) { // the owner alone means the repository itself
		asked["head_repo"] = name
	}
	var made pullAnswer
	open := rest.Call{Method: http.MethodPost, Path: "pulls", In: asked, Out: &made}
	_, err := s.transport.Do(ctx, open)
	if s.says(err, "Draft pull requests are not supported") {
		delete(asked, "draft")
		_, err = s.transport.Do(ctx, open)
	}
	if s.says(err, "A pull request already exists") {
		err = forge.ErrExists
	}
	if err != nil {
		return forge.Proposal{}, s.wrap(err, "open a pull request of branch %s", p.Branch)
	}
	return proposal(made), nil
}

// says reports whether GitHub refused with these words. It has no codes for the cases that we have to know.
func (s *Server) says(err error, words string) bool {
	var failure *forge.Failure
	return err != nil && errors.As(s.transport.Judged(err), &failure) && failure.Kind == forge.Refused && strings.Contains(failure.Message, words)
}

// EditProposal makes title and body what they should be, and then draft, which only GraphQL can change.
func (s *Server) EditProposal(ctx context.Context, p forge.Proposal) error {
	edited, err := s.editPull(ctx, p.Number, map[string]string{"title": p.Title, "body": p.Body})
	if err == nil && edited.Draft != p.Draft && edited.State == "open" {
		mutation := readyMutation
		if p.Draft {
			mutation = draftMutation
		}
		err = s.query(ctx, mutation, map[string]any{"pull": edited.NodeID}, nil)
	}
	return s.wrap(err, "edit pull request %d", p.Number)
}

// CloseProposal changes nothing about one that is merged: GitHub counts it as closed.
func (s *Server) CloseProposal(ctx context.Context, number int) error {
	_, err := s.editPull(ctx, number, map[string]string{"state": "closed"})
	return s.wrap(err, "close pull request %d", number)
}

func (s *Server) editPull(ctx context.Context, number int, fields map[string]string) (edited pullAnswer, err error) {
	_, err = s.transport.Do(ctx, rest.Call{Method: http.MethodPatch, Path: "pulls/%d", Args: []any{number}, In: fields, Out: &edited})
	return edited, err
}

// ownerOf returns the owner of a fork, or of the repository itself.
func (s *Server) ownerOf(fork string) string {
	if owner, _, forked := strings.Cut(fork, "/"); forked {
		return owner
	}
	return s.owner
}
