package github

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// maxRuns is how many runs of a commit are looked at.
const maxRuns = 20

// runAnswer is a run of a workflow.
type runAnswer struct {
	HeadSHA string `json:"head_sha"`
	Attempt int    `json:"run_attempt"`
	Status  string
}

// CIRuns returns the runs of Actions in which something failed. Of one that ran once, the verdicts say what failed; of others its first attempt does.
func (s *Server) CIRuns(ctx context.Context, commit string, verdicts []forge.Verdict) (found []forge.CIRun, err error) {
	of := map[string][]forge.Verdict{}
	var ids []string
	for _, v := range verdicts {
		run, _ := s.job(v.Page)
		if run == "" || of[run] == nil && len(ids) == maxRuns {
			continue
		}
		if of[run] == nil {
			ids = append(ids, run)
		}
		of[run] = append(of[run], v)
	}
	for _, id := range ids {
		run, err := s.run(ctx, id, commit, of[id])
		if err != nil {
			return nil, s.wrap(err, "read run %s of Actions", id)
		}
		if len(run.Failed) > 0 {
			found = append(found, run)
		}
	}
	return found, nil
}

func (s *Server) run(ctx context.Context, id, commit string, of []forge.Verdict) (run forge.CIRun, err error) {
	r, _, err := rest.Get[runAnswer](ctx, s.transport, nil, "actions/runs/%s", id)
	if err != nil || r.HeadSHA != commit {
		return run, err
	}
	run.ID, err = strconv.ParseInt(id, 10, 64)
	run.Attempts, run.Busy = r.Attempt, r.Status != "completed" && r.Status != "waiting" // for a person, who may take days
	failed := func(v forge.Verdict) bool { return v.State == forge.Failed }
	if err == nil && r.Attempt > 1 {
		var first []string
		err = rest.Pages(func(page url.Values) ([]checkAnswer, *http.Response, error) {
			jobs, resp, err := rest.Get[struct{ Jobs []checkAnswer }](ctx, s.transport, page, "actions/runs/%s/attempts/1/jobs", id)
			return jobs.Jobs, resp, err
		}, func(job checkAnswer) bool {
			if failed(checkVerdict(job)) {
				first = append(first, job.Name)
			}
			return true
		})
		failed = func(v forge.Verdict) bool { return slices.Contains(first, v.Name) }
	}
	for _, v := range of {
		if failed(v) {
			run.Failed = append(run.Failed, v.Name)
		}
	}
	return run, err
}

// Rerun starts the jobs of a run again that failed, and those that depend on them.
func (s *Server) Rerun(ctx context.Context, run forge.CIRun) error {
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPost, Path: "actions/runs/%d/rerun-failed-jobs", Args: []any{run.ID}})
	return s.wrap(err, "run what failed in run %d of Actions again", run.ID)
}
