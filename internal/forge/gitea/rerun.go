package gitea

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// runJob is a job of Actions. Gitea counts an attempt when a runner takes it, and keeps nothing of the one before.
type runJob struct {
	RunID      int64  `json:"run_id"`
	HeadSHA    string `json:"head_sha"`
	Attempt    int    `json:"run_attempt"`
	Status     string `json:"status"`
	Conclusion string `json:"conclusion"`
}

// again reports whether the job was started again.
func (j runJob) again() bool {
	return j.Attempt > 1 || j.Attempt == 1 && (j.Status == "queued" || j.Status == "waiting")
}

// CIRuns returns the runs of Actions in which something failed. Gitea before 1.26 and Forgejo tell of no jobs.
func (s *Server) CIRuns(ctx context.Context, commit string, verdicts []forge.Verdict) (found []forge.CIRun, err error) {
	for _, v := range verdicts {
		page := job().FindStringSubmatch(v.Page)
		if page == nil {
			continue
		}
		var j runJob
		if _, err := s.call(ctx, request{method: http.MethodGet, path: "actions/jobs/%s", args: []any{page[1]}, out: &j}); err != nil {
			return nil, fmt.Errorf("read the job of %q: %w", rest.Line(v.Name), err)
		}
		if j.HeadSHA != commit || !j.again() && v.State != forge.Failed {
			continue
		}
		i := slices.IndexFunc(found, func(r forge.CIRun) bool { return r.ID == j.RunID })
		if i < 0 {
			var run struct{ Status string }
			if _, err := s.call(ctx, request{method: http.MethodGet, path: "actions/runs/%d", args: []any{j.RunID}, out: &run}); err != nil {
				return nil, fmt.Errorf("read run %d of Actions: %w", j.RunID, err)
			}
			i, found = len(found), append(found, forge.CIRun{ID: j.RunID, Attempts: 1, Busy: run.Status != "completed"})
		}
		found[i].Failed = append(found[i].Failed, v.Name)
		if j.again() {
			found[i].Attempts = 2
		}
	}
	return found, nil
}

// Rerun starts the jobs of a run again that failed, and those that depend on them.
func (s *Server) Rerun(ctx context.Context, run forge.CIRun) error {
	if _, err := s.call(ctx, request{method: http.MethodPost, path: "actions/runs/%d/rerun-failed-jobs", args: []any{run.ID}}); err != nil {
		return fmt.Errorf("run what failed in run %d of Actions again: %w", run.ID, err)
	}
	return nil
}
