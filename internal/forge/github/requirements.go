package github

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// rule is one rule of a ruleset, of the fields that concern a merge.
type rule struct {
	Type       string
	Parameters struct {
		RequiredStatusChecks         []struct{ Context string } `json:"required_status_checks"`
		RequiredApprovingReviewCount int                        `json:"required_approving_review_count"`
	}
}

// Required reads rulesets, which everybody may read, and the branch's protection, which takes an administrator.
func (s *Server) Required(ctx context.Context, branch string) (forge.Requirements, error) {
	var r forge.Requirements
	rules, err := s.rules(ctx, branch)
	if errors.Is(err, forge.ErrNotFound) { // an Enterprise server older than rulesets
		err = nil
	}
	if err != nil {
		return r, s.wrap(err, "read the rules of branch %s", branch)
	}
	for _, one := range rules {
		r = withRule(r, one)
	}
	protection, _, err := rest.Get[protectionAnswer](ctx, s.transport, nil, "branches/%s/protection", branch)
	switch {
	case err == nil:
		r = withProtection(r, protection)
	case errors.Is(err, errUnprotected):
	case unreadable(s.transport.Judged(err)):
		r.Unknown = true
	default:
		return forge.Requirements{}, s.wrap(err, "read the protection of branch %s", branch)
	}
	slices.Sort(r.Verdicts)
	r.Verdicts = slices.Compact(r.Verdicts)
	return r, nil
}

func (s *Server) rules(ctx context.Context, branch string) (found []rule, err error) {
	err = rest.Pages(func(page url.Values) ([]rule, *http.Response, error) {
		rules, resp, err := rest.Get[[]json.RawMessage](ctx, s.transport, page, "rules/branches/%s", branch)
		return decoded(rules), resp, err
	}, func(one rule) bool {
		found = append(found, one)
		return true
	})
	if err != nil {
		err = s.transport.Judged(err)
	}
	return found, err
}

// decoded leaves out what a rule of a later version has in a field of the same name.
func decoded(raw []json.RawMessage) (rules []rule) {
	for _, text := range raw {
		var one rule
		_ = json.Unmarshal(text, &one) // the type alone is a rule too
		rules = append(rules, one)
	}
	return rules
}

func withRule(r forge.Requirements, one rule) forge.Requirements {
	switch one.Type {
	case "required_status_checks":
		for _, check := range one.Parameters.RequiredStatusChecks {
			r.Verdicts = append(r.Verdicts, check.Context)
		}
	case "pull_request":
		r.PushRefused = true
		r.Approvals = max(r.Approvals, one.Parameters.RequiredApprovingReviewCount)
	case "merge_queue":
		r.PushRefused, r.Queue = true, true
	case "update":
		r.PushRefused = true
	}
	return r
}

func withProtection(r forge.Requirements, p protectionAnswer) forge.Requirements {
	if checks := p.RequiredStatusChecks; checks != nil {
		r.Verdicts = append(r.Verdicts, checks.Contexts...)
		for _, check := range checks.Checks {
			if check != nil {
				r.Verdicts = append(r.Verdicts, check.Context)
			}
		}
	}
	if reviews := p.RequiredPullRequestReviews; reviews != nil {
		r.PushRefused = true
		r.Approvals = max(r.Approvals, reviews.RequiredApprovingReviewCount)
	}
	if p.Restrictions != nil || p.LockBranch.Enabled {
		r.PushRefused = true
	}
	return r
}

// unreadable reports whether the account may not read the protection: GitHub answers 404 or 403.
func unreadable(err error) bool {
	var failure *forge.Failure
	return errors.Is(err, forge.ErrNotFound) || errors.As(err, &failure) && failure.Kind == forge.Forbidden
}
