package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"signalbox/internal/forge"
)

// Publish writes a check run as an App, and a commit status otherwise: GitHub lets only Apps write check runs.
func (s *Server) Publish(ctx context.Context, commit string, v forge.Verdict) error {
	if !fullID().MatchString(commit) {
		return fmt.Errorf("publish %s: %q is no full id of a commit", v.Name, commit)
	}
	if s.app != nil {
		return s.wrap(s.publishCheck(ctx, commit, v), "publish %s", v.Name)
	}
	_, err := s.call(ctx, request{method: http.MethodPost, path: "statuses/%s", args: []any{commit}, in: status(v)})
	return s.wrap(err, "publish %s", v.Name)
}

// publishCheck updates the check run of this name, or makes it. Those of other Apps can't be updated, and have other names.
func (s *Server) publishCheck(ctx context.Context, commit string, v forge.Verdict) error {
	query := url.Values{"check_name": {v.Name}, "per_page": {strconv.Itoa(pageSize)}}
	found, _, err := get[checksAnswer](ctx, s, query, "commits/%s/check-runs", commit)
	if err != nil {
		return err
	}
	for _, run := range found.CheckRuns {
		if run.Name == v.Name && run.HeadSHA == commit && run.ExternalID == checkMark {
			_, err = s.call(ctx, request{method: http.MethodPatch, path: "check-runs/%d", args: []any{run.ID}, in: check(v)})
			return err
		}
	}
	made := check(v)
	made["head_sha"] = commit
	_, err = s.call(ctx, request{method: http.MethodPost, path: "check-runs", in: made})
	return err
}
