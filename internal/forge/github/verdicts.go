package github

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-github/v89/github"

	"signalbox/internal/forge"
	"signalbox/internal/lazy"
)

// fullID is a commit's. GitHub would take the name of a branch for one, and answer about whatever that is at the moment.
var fullID = lazy.Pattern(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Verdicts reads commit statuses and check runs. Of one name and one application the newest counts. If two applications, or a
// status and a check run, have the same name, the worst counts, as it does for GitHub's own protection.
func (s *Server) Verdicts(ctx context.Context, commit string) ([]forge.Verdict, error) {
	if !fullID().MatchString(commit) {
		return nil, fmt.Errorf("read verdicts: %q is no full id of a commit", commit)
	}
	statuses, err := s.statuses(ctx, commit)
	if err != nil {
		return nil, s.wrap(err, "read the statuses of %s", commit)
	}
	runs, err := s.checkRuns(ctx, commit)
	if err != nil {
		return nil, s.wrap(err, "read the checks of %s", commit)
	}
	byName := map[string]forge.Verdict{}
	for _, v := range append(statuses, runs...) {
		if other, ok := byName[v.Name]; !ok || severity(v.State) > severity(other.State) {
			byName[v.Name] = v
		}
	}
	return slices.SortedFunc(maps.Values(byName), func(a, b forge.Verdict) int { return strings.Compare(a.Name, b.Name) }), nil
}

func severity(s forge.VerdictState) int {
	return slices.Index([]forge.VerdictState{forge.Passed, forge.Pending, forge.Failed}, s)
}

// statuses reads the combined status, which has the newest of each name.
func (s *Server) statuses(ctx context.Context, commit string) (found []forge.Verdict, err error) {
	err = pages(func(page github.ListOptions) ([]*github.RepoStatus, *github.Response, error) {
		combined, resp, err := s.rest.Repositories.GetCombinedStatus(ctx, s.owner, s.name, commit, &page)
		if err == nil && combined.GetSHA() != commit {
			err = errNoData
		}
		return combined.GetStatuses(), resp, err
	}, func(status *github.RepoStatus) bool {
		if status != nil {
			found = append(found, statusVerdict(status))
		}
		return true
	})
	return found, err
}

// checkRuns returns the newest run of each name and application: one commit can be checked again by another event.
func (s *Server) checkRuns(ctx context.Context, commit string) (found []forge.Verdict, err error) {
	type source struct {
		name string
		app  int64
	}
	newest := map[source]*github.CheckRun{}
	err = pages(func(page github.ListOptions) ([]*github.CheckRun, *github.Response, error) {
		runs, resp, err := s.rest.Checks.ListCheckRunsForRef(ctx, s.owner, s.name, commit, &github.ListCheckRunsOptions{ListOptions: page})
		return runs.GetCheckRuns(), resp, err
	}, func(run *github.CheckRun) bool {
		from := source{run.GetName(), run.GetApp().GetID()}
		if run.GetHeadSHA() == commit && run.GetID() > newest[from].GetID() { // ids grow; times are missing while a run is queued
			newest[from] = run
		}
		return true
	})
	for run := range maps.Values(newest) {
		found = append(found, checkVerdict(run))
	}
	return found, err
}
