package gitea

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"signalbox/internal/forge"
	"signalbox/internal/forge/joblog"
	"signalbox/internal/forge/rest"
	"signalbox/internal/lazy"
)

const (
	// maxVerdicts is how many statuses of a commit are read, the newest of each name.
	maxVerdicts = 1000
	// maxJobLog is how many bytes of a log are read to get to its end.
	maxJobLog = 64 << 20
)

var commitID = lazy.Pattern(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// Verdicts returns the statuses of a commit. Actions reports its jobs as statuses.
func (s *Server) Verdicts(ctx context.Context, commit string) ([]forge.Verdict, error) {
	if !commitID().MatchString(commit) { // Gitea would take a branch
		return nil, fmt.Errorf("read the statuses of %q: it is no full id", rest.Line(commit))
	}
	var all []forge.Verdict
	for page := 1; len(all) < maxVerdicts; page++ {
		var combined struct {
			SHA      string   `json:"sha"`
			Total    int      `json:"total_count"`
			Statuses []status `json:"statuses"`
		}
		r := request{method: http.MethodGet, path: "commits/%s/status", args: []any{commit}, out: &combined,
			query: map[string][]string{"page": {strconv.Itoa(page)}, "limit": {strconv.Itoa(pageSize)}}}
		_, err := s.call(ctx, r)
		if errors.Is(err, forge.ErrNotFound) { // the pushed commit does not show yet
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the statuses of %s: %w", commit, err)
		}
		if len(combined.Statuses) == 0 {
			break
		}
		if combined.SHA != commit {
			return nil, fmt.Errorf("read the statuses of %s: the server answers for %q", commit, rest.Line(combined.SHA))
		}
		for _, one := range combined.Statuses {
			all = append(all, one.convert(s.page))
		}
		if len(all) >= combined.Total {
			break
		}
	}
	return all, nil
}

// Required reads what the branch's protection asks for, which everyone may see who may see the branch.
func (s *Server) Required(ctx context.Context, name string) (forge.Requirements, error) {
	var b branch
	if _, err := s.call(ctx, request{method: http.MethodGet, path: "branches/%s", args: []any{name}, out: &b}); err != nil {
		return forge.Requirements{}, fmt.Errorf("read the protection of branch %q: %w", name, err)
	}
	return b.convert(), nil
}

// Publish writes a commit status.
func (s *Server) Publish(ctx context.Context, commit string, v forge.Verdict) error {
	states := map[forge.VerdictState]string{forge.Pending: "pending", forge.Passed: "success", forge.Failed: "failure"}
	if _, err := s.call(ctx, request{method: http.MethodPost, path: "statuses/%s", args: []any{commit},
		in: map[string]any{"state": states[v.State], "context": v.Name, "description": v.Summary, "target_url": v.Page}}); err != nil {
		return fmt.Errorf("report %q on %s: %w", v.Name, commit, err)
	}
	return nil
}

// job finds the id of an Actions job in the page of its status.
var job = lazy.Pattern(`/actions/runs/\d+/jobs/(\d+)$`)

// Log returns the ends of the failed steps' parts of an Actions job's log.
func (s *Server) Log(ctx context.Context, v forge.Verdict, limit int) ([]forge.StepLog, error) {
	found := job().FindStringSubmatch(v.Page)
	if found == nil {
		return nil, fmt.Errorf("read the log of %q: %w", rest.Line(v.Name), forge.ErrNotFound)
	}
	steps, err := s.log(ctx, found[1], limit)
	if err != nil {
		return nil, fmt.Errorf("read the log of %q: %w", rest.Line(v.Name), err)
	}
	return steps, nil
}

func (s *Server) log(ctx context.Context, job string, limit int) ([]forge.StepLog, error) {
	var described struct{ Steps []joblog.Step }
	if _, err := s.call(ctx, request{method: http.MethodGet, path: "actions/jobs/%s", args: []any{job}, out: &described}); err != nil {
		return nil, err
	}
	resp, err := s.send(ctx, request{method: http.MethodGet, path: "actions/jobs/%s/logs", args: []any{job}})
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, s.refusal(resp, nil)
	}
	found, err := joblog.Of(io.LimitReader(resp.Body, maxJobLog), described.Steps, limit)
	if err != nil {
		return nil, s.unreachable(ctx, err)
	}
	return found, nil
}
