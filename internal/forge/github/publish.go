package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// Publish writes a check run as an App, and a commit status otherwise: GitHub lets only Apps write check runs.
func (s *Server) Publish(ctx context.Context, commit string, v forge.Verdict) error {
	if !fullID().MatchString(commit) {
		return fmt.Errorf("publish %s: %q is no full id of a commit", v.Name, commit)
	}
	if s.app != nil {
		return s.wrap(s.publishCheck(ctx, commit, v), "publish %s", v.Name)
	}
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPost, Path: "statuses/%s", Args: []any{commit}, In: status(v)})
	return s.wrap(err, "publish %s", v.Name)
}

// publishCheck updates the check run of this name, or makes it. Those of other Apps can't be updated, and have other names.
func (s *Server) publishCheck(ctx context.Context, commit string, v forge.Verdict) error {
	query := url.Values{"check_name": {v.Name}, "per_page": {strconv.Itoa(rest.PageSize)}}
	found, _, err := rest.Get[checksAnswer](ctx, s.transport, query, "commits/%s/check-runs", commit)
	if err != nil {
		return err
	}
	for _, run := range found.CheckRuns {
		if run.Name == v.Name && run.HeadSHA == commit && run.ExternalID == checkMark {
			_, err = s.transport.Do(ctx, rest.Call{Method: http.MethodPatch, Path: "check-runs/%d", Args: []any{run.ID}, In: check(v)})
			return err
		}
	}
	made := check(v)
	made["head_sha"] = commit
	_, err = s.transport.Do(ctx, rest.Call{Method: http.MethodPost, Path: "check-runs", In: made})
	return err
}
