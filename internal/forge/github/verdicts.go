package github

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
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
	err = rest.Pages(func(page url.Values) ([]*statusAnswer, *http.Response, error) {
		combined, resp, err := rest.Get[struct {
			SHA      string
			Statuses []*statusAnswer
		}](ctx, s.transport, page, "commits/%s/status", commit)
		if err == nil && combined.SHA != commit {
			err = errNoData
		}
		return combined.Statuses, resp, err
	}, func(status *statusAnswer) bool {
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
	newest := map[source]checkAnswer{}
	err = rest.Pages(func(page url.Values) ([]checkAnswer, *http.Response, error) {
		runs, resp, err := rest.Get[checksAnswer](ctx, s.transport, page, "commits/%s/check-runs", commit)
		return runs.CheckRuns, resp, err
	}, func(run checkAnswer) bool {
		from := source{run.Name, run.App.ID}
		if run.HeadSHA == commit && run.ID > newest[from].ID { // ids grow; times are missing while a run is queued
			newest[from] = run
		}
		return true
	})
	for run := range maps.Values(newest) {
		found = append(found, checkVerdict(run))
	}
	return found, err
}
