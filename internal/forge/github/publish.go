package github

import (
	"context"
	"fmt"

	"github.com/google/go-github/v89/github"

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
	_, _, err := s.rest.Repositories.CreateStatus(ctx, s.owner, s.name, commit, status(v))
	return s.wrap(err, "publish %s", v.Name)
}

// publishCheck updates the check run of this name, or makes it. Those of other Apps can't be updated, and have other names.
func (s *Server) publishCheck(ctx context.Context, commit string, v forge.Verdict) error {
	found, _, err := s.rest.Checks.ListCheckRunsForRef(ctx, s.owner, s.name, commit,
		&github.ListCheckRunsOptions{CheckName: &v.Name, ListOptions: github.ListOptions{PerPage: pageSize}})
	if err != nil {
		return err
	}
	for _, run := range found.CheckRuns {
		if run.GetName() == v.Name && run.GetHeadSHA() == commit && run.GetExternalID() == checkMark {
			_, _, err = s.rest.Checks.UpdateCheckRun(ctx, s.owner, s.name, run.GetID(), checkUpdate(v))
			return err
		}
	}
	_, _, err = s.rest.Checks.CreateCheckRun(ctx, s.owner, s.name, check(commit, v))
	return err
}
