package gitlab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// maxLog bounds what is read to see the end of a log.
const maxLog = 256 << 20

// maxJobs is how many failed jobs of a pipeline have their logs read.
const maxJobs = 3

// Log returns the end of what the script of a job printed, or those of the failed jobs of a pipeline.
func (s *Server) Log(ctx context.Context, v forge.Verdict, limit int) ([]forge.StepLog, error) {
	jobs, err := s.failedJobs(ctx, v)
	if err == nil && len(jobs) == 0 {
		err = fmt.Errorf("%w (it is no job of GitLab here)", forge.ErrNotFound)
	}
	var all []forge.StepLog
	for _, job := range jobs[:min(len(jobs), maxJobs)] {
		found, problem := s.log(ctx, job.ID, limit)
		for _, step := range found {
			if job.Name != v.Name {
				step.Step = strings.TrimSuffix(job.Name+": "+step.Step, ": ")
			}
			all = append(all, step)
		}
		err = errors.Join(err, problem)
	}
	if len(all) > 0 {
		return all, nil
	}
	return nil, s.wrap(err, "read the log of %q", s.transport.Clean(v.Name))
}

// number returns the number at the end of a page of this project, such as -/jobs/5; 0 if it is no such page.
func (s *Server) number(page, kind string) (n int64) {
	root := s.page + "/" + s.path + "/-/" + kind + "/"
	if len(page) > len(root) && strings.EqualFold(page[:len(root)], root) {
		n, _ = strconv.ParseInt(page[len(root):], 10, 64) // 0 if it is none
	}
	return max(n, 0)
}

// failedJobs are the job that a verdict is of, or the failed jobs of its pipeline; none if it is another CI's.
func (s *Server) failedJobs(ctx context.Context, v forge.Verdict) (jobs []commitStatus, err error) {
	if id := s.number(v.Page, "jobs"); id != 0 {
		return []commitStatus{{ID: id, Name: v.Name}}, nil
	}
	id := s.number(v.Page, "pipelines")
	if id == 0 {
		return nil, nil
	}
	err = rest.Pages(func(page url.Values) ([]commitStatus, *http.Response, error) {
		return rest.Get[[]commitStatus](ctx, s.transport, rest.Filtered(page, "scope[]", "failed"), "pipelines/%d/jobs", id)
	}, func(c commitStatus) bool {
		if !c.AllowFailure {
			jobs = append(jobs, c)
		}
		return true
	})
	return jobs, err
}

// log reads the log itself, or where GitLab says that it is stored: that place gets no token.
func (s *Server) log(ctx context.Context, job int64, limit int) ([]forge.StepLog, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, rest.CallTimeout, rest.ErrTimeout)
	defer cancel()
	req, err := s.transport.Request(ctx, rest.Call{Method: http.MethodGet, Path: "jobs/%d/trace", Args: []any{job}})
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/plain")
	resp, err := s.transport.Open(req)
	if err == nil && resp.StatusCode/100 == 3 {
		resp.Body.Close()
		resp, err = s.stored(ctx, resp)
	}
	if err != nil {
		return nil, s.transport.Unanswered(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what can't be read is judged by its status
		return nil, s.refusal(resp, body)
	}
	found, err := traced(io.LimitReader(resp.Body, maxLog), limit)
	return found, s.transport.Unanswered(ctx, err)
}

func (s *Server) stored(ctx context.Context, resp *http.Response) (*http.Response, error) {
	at, err := resp.Location()
	if err != nil || at.Scheme != "https" && !s.transport.Holds(at) {
		return nil, errors.New("the log's address is not reached by https")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, errors.New("the log's address is none")
	}
	return s.plain.Do(req)
}
