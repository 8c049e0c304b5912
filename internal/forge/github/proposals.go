package github

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-github/v89/github"

	"signalbox/internal/forge"
)

func (s *Server) Proposal(ctx context.Context, number int) (forge.Proposal, error) {
	found, _, err := s.rest.PullRequests.Get(ctx, s.owner, s.name, number)
	if err != nil {
		return forge.Proposal{}, s.wrap(err, "read pull request %d", number)
	}
	return s.proposal(found), nil
}

// ProposalOf compares what GitHub answers: a head that it can't parse is no filter for it.
func (s *Server) ProposalOf(ctx context.Context, branch string) (newest forge.Proposal, err error) {
	err = pages(func(page github.ListOptions) ([]*github.PullRequest, *github.Response, error) {
		return s.rest.PullRequests.List(ctx, s.owner, s.name, &github.PullRequestListOptions{
			State: "all", Head: s.headOwner + ":" + branch, Sort: "created", Direction: "desc", ListOptions: page,
		})
	}, func(p *github.PullRequest) bool {
		if p == nil {
			return true
		}
		if found := s.proposal(p); found.Branch == branch && found.Number > newest.Number {
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
	request := &github.NewPullRequest{
		Title: &p.Title, Body: &p.Body, Head: github.Ptr(s.headOwner + ":" + p.Branch), Base: &p.Base, Draft: &p.Draft,
	}
	if s.headOwner != s.owner {
		request.MaintainerCanModify = github.Ptr(true)
	}
	made, _, err := s.rest.PullRequests.Create(ctx, s.owner, s.name, request)
	if s.says(err, "Draft pull requests are not supported") {
		request.Draft = nil
		made, _, err = s.rest.PullRequests.Create(ctx, s.owner, s.name, request)
	}
	if s.says(err, "A pull request already exists") {
		err = forge.ErrExists
	}
	if err != nil {
		return forge.Proposal{}, s.wrap(err, "open a pull request of branch %s", p.Branch)
	}
	return s.proposal(made), nil
}

// says reports whether GitHub refused with these words. It has no codes for the cases that we have to know.
func (s *Server) says(err error, words string) bool {
	var failure *forge.Failure
	return err != nil && errors.As(s.judged(err), &failure) && failure.Kind == forge.Refused && strings.Contains(failure.Message, words)
}

// EditProposal makes title and body what they should be, and then draft, which only GraphQL can change.
func (s *Server) EditProposal(ctx context.Context, p forge.Proposal) error {
	edited, _, err := s.rest.PullRequests.Edit(ctx, s.owner, s.name, p.Number, &github.PullRequest{Title: &p.Title, Body: &p.Body})
	if err == nil && edited.GetDraft() != p.Draft && edited.GetState() == "open" {
		mutation := readyMutation
		if p.Draft {
			mutation = draftMutation
		}
		err = s.query(ctx, mutation, map[string]any{"pull": edited.GetNodeID()}, nil)
	}
	return s.wrap(err, "edit pull request %d", p.Number)
}

// CloseProposal changes nothing about one that is merged: GitHub counts it as closed.
func (s *Server) CloseProposal(ctx context.Context, number int) error {
	_, _, err := s.rest.PullRequests.Edit(ctx, s.owner, s.name, number, &github.PullRequest{State: github.Ptr("closed")})
	return s.wrap(err, "close pull request %d", number)
}

// proposal names a branch of another owner with that owner, as GitHub's pages do: it is none that we pushed.
func (s *Server) proposal(p *github.PullRequest) forge.Proposal {
	found := proposal(p)
	if owner := p.GetHead().GetUser().GetLogin(); !strings.EqualFold(owner, s.headOwner) {
		found.Branch = fmt.Sprintf("%s:%s", owner, found.Branch)
	}
	return found
}
