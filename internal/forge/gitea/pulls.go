package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"signalbox/internal/forge"
)

// How many pull requests are looked through for a branch: Gitea can't be asked for it. All that are open, and those that ended last.
const (
	maxOpenPulls  = 1000
	maxEndedPulls = pageSize
)

// Proposal returns a pull request.
func (s *Server) Proposal(ctx context.Context, number int) (forge.Proposal, error) {
	p, err := s.pull(ctx, number)
	if err != nil {
		return forge.Proposal{}, fmt.Errorf("read pull request %d: %w", number, err)
	}
	return p.convert(), nil
}

func (s *Server) pull(ctx context.Context, number int) (p pull, err error) {
	_, err = s.call(ctx, request{method: http.MethodGet, path: "pulls/%d", args: []any{number}, out: &p})
	return p, err
}

// ProposalOf returns the newest pull request from a branch.
func (s *Server) ProposalOf(ctx context.Context, fork, branch string) (forge.Proposal, error) {
	for _, look := range []struct {
		state, sort string
		limit       int
	}{{"open", "", maxOpenPulls}, {"closed", "recentclose", maxEndedPulls}} {
		query := url.Values{"state": {look.state}}
		if look.sort != "" {
			query.Set("sort", look.sort)
		}
		found, err := pages[pull](ctx, s, request{method: http.MethodGet, path: "pulls", query: query}, look.limit)
		if err != nil {
			return forge.Proposal{}, fmt.Errorf("find the pull request of branch %q: %w", branch, err)
		}
		newest := forge.Proposal{}
		for _, p := range found {
			if one := p.convert(); one.Branch == branch && strings.EqualFold(one.Fork, fork) && one.Number > newest.Number {
				newest = one
			}
		}
		if newest.Number > 0 {
			return newest, nil
		}
	}
	return forge.Proposal{}, fmt.Errorf("find the pull request of branch %q: %w", branch, forge.ErrNotFound)
}

// Propose opens a pull request.
func (s *Server) Propose(ctx context.Context, p forge.Proposal) (forge.Proposal, error) {
	var opened pull
	head := p.Branch
	if owner, _, forked := strings.Cut(p.Fork, "/"); forked { // an account has one fork at most
		head = owner + ":" + head
	}
	_, err := s.call(ctx, request{method: http.MethodPost, path: "pulls", out: &opened,
		in: map[string]any{"title": titled(p.Title, p.Draft), "body": p.Body, "head": head, "base": p.Base}})
	var f *forge.Failure
	if errors.As(err, &f) && f.Status == http.StatusConflict {
		err = fmt.Errorf("%w: the server says %q", forge.ErrExists, f.Message)
	}
	if err != nil {
		return forge.Proposal{}, fmt.Errorf("open a pull request of %q: %w", p.Branch, err)
	}
	return opened.convert(), nil
}

// EditProposal changes title, body and draft.
func (s *Server) EditProposal(ctx context.Context, p forge.Proposal) error {
	if _, err := s.call(ctx, request{method: http.MethodPatch, path: "pulls/%d", args: []any{p.Number},
		in: map[string]any{"title": titled(p.Title, p.Draft), "body": p.Body}}); err != nil {
		return fmt.Errorf("edit pull request %d: %w", p.Number, err)
	}
	return nil
}

// CloseProposal closes a pull request.
func (s *Server) CloseProposal(ctx context.Context, number int) error {
	if _, err := s.call(ctx, request{method: http.MethodPatch, path: "pulls/%d", args: []any{number}, in: map[string]any{"state": "closed"}}); err != nil {
		return fmt.Errorf("close pull request %d: %w", number, err)
	}
	return nil
}

// MergeProposal merges in the repository's default way, on condition that the head is this one.
func (s *Server) MergeProposal(ctx context.Context, number int, head, message string) error {
	r, err := s.repository(ctx)
	if err != nil {
		return fmt.Errorf("merge pull request %d: %w", number, err)
	}
	styles := r.styles()
	if len(styles) == 0 {
		return fmt.Errorf("merge pull request %d: the repository allows no way to merge", number)
	}
	title, rest, _ := strings.Cut(message, "\n")
	return s.merge(ctx, number, map[string]any{"Do": styles[0], "head_commit_id": head, "MergeTitleField": title, "MergeMessageField": strings.TrimSpace(rest)})
}

// RecordMerge marks a pull request as merged by a commit on its base, if the repository allows that. Most don't.
func (s *Server) RecordMerge(ctx context.Context, number int, commit string) error {
	r, err := s.repository(ctx)
	if err == nil && !r.AllowManual {
		err = &forge.Failure{Kind: forge.Refused, Err: errors.New("the repository does not allow pull requests to be marked as merged")}
	}
	if err != nil {
		return fmt.Errorf("mark pull request %d as merged: %w", number, err)
	}
	return s.merge(ctx, number, map[string]any{"Do": "manually-merged", "MergeCommitID": commit})
}

func (s *Server) merge(ctx context.Context, number int, how map[string]any) error {
	_, err := s.call(ctx, request{method: http.MethodPost, path: "pulls/%d/merge", args: []any{number}, in: how})
	if err = mergeRefusal(err); err != nil {
		return fmt.Errorf("merge pull request %d: %w", number, err)
	}
	return nil
}
