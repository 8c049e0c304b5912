package gitlab

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// maxPipelines is how many pipelines of a commit are looked at.
const maxPipelines = 5

// CIRuns returns the jobs that failed at first, each as a run of its own. The verdict on a pipeline is about all of its jobs.
func (s *Server) CIRuns(ctx context.Context, _ string, verdicts []forge.Verdict) (found []forge.CIRun, err error) {
	listed := map[int64][]commitStatus{} // by pipeline
	whole, wanted := map[int64]bool{}, map[string]bool{}
	for _, v := range verdicts {
		of, job := s.number(v.Page, "pipelines"), s.number(v.Page, "jobs")
		switch wanted[v.Name] = wanted[v.Name] || job != 0; {
		case of != 0:
			whole[of] = true
		case job != 0 && !slices.ContainsFunc(slices.Collect(maps.Values(listed)), func(jobs []commitStatus) bool {
			return slices.ContainsFunc(jobs, func(c commitStatus) bool { return c.ID == job })
		}):
			described, _, err := rest.Get[struct{ Pipeline struct{ ID int64 } }](ctx, s.transport, nil, "jobs/%d", job)
			if err != nil {
				return nil, s.wrap(err, "read job %d", job)
			}
			of = described.Pipeline.ID
		}
		if _, known := listed[of]; of == 0 || known || len(listed) == maxPipelines {
			continue
		}
		if listed[of], err = s.jobsOf(ctx, of); err != nil {
			return nil, s.wrap(err, "read the jobs of pipeline %d", of)
		}
	}
	for of, jobs := range listed {
		found = append(found, failedAtFirst(jobs, func(name string) bool { return whole[of] || wanted[name] })...)
	}
	slices.SortFunc(found, func(a, b forge.CIRun) int { return cmp.Compare(a.ID, b.ID) })
	return found, nil
}

// jobsOf returns the jobs of a pipeline with their earlier attempts, the oldest first.
func (s *Server) jobsOf(ctx context.Context, pipeline int64) (jobs []commitStatus, err error) {
	err = rest.Pages(func(page url.Values) ([]commitStatus, *http.Response, error) {
		return rest.Get[[]commitStatus](ctx, s.transport, rest.Filtered(page, "include_retried", "true"), "pipelines/%d/jobs", pipeline)
	}, func(c commitStatus) bool {
		jobs = append(jobs, c)
		return true
	})
	slices.SortFunc(jobs, func(a, b commitStatus) int { return cmp.Compare(a.ID, b.ID) })
	return jobs, err
}

// failedAtFirst returns a pipeline's jobs of these names whose first attempt failed. An attempt is a job of its own.
func failedAtFirst(jobs []commitStatus, wanted func(string) bool) (found []forge.CIRun) {
	of := map[string]int{}
	for _, c := range jobs {
		state := c.convert("").State
		if i, known := of[c.Name]; known {
			if i >= 0 {
				found[i].ID, found[i].Attempts, found[i].Busy = c.ID, found[i].Attempts+1, state == forge.Pending
			}
			continue
		}
		of[c.Name] = -1
		if state == forge.Failed && wanted(c.Name) {
			of[c.Name] = len(found)
			found = append(found, forge.CIRun{ID: c.ID, Failed: []string{c.Name}, Attempts: 1})
		}
	}
	return found
}

// Rerun starts a job again.
func (s *Server) Rerun(ctx context.Context, run forge.CIRun) error {
	_, err := s.transport.Do(ctx, rest.Call{Method: http.MethodPost, Path: "jobs/%d/retry", Args: []any{run.ID}})
	return s.wrap(err, "run job %d again", run.ID)
}
