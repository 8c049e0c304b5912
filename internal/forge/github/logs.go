package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"

	"signalbox/internal/forge"
	"signalbox/internal/forge/joblog"
	"signalbox/internal/forge/rest"
)

// maxLog bounds what is downloaded to see the end of a log.
const maxLog = 256 << 20

// Log returns the ends of the failed steps' parts of a job's log. GitHub answers with the address of a store, which gets no token.
func (s *Server) Log(ctx context.Context, v forge.Verdict, limit int) ([]forge.StepLog, error) {
	_, job := s.job(v.Page)
	if job == "" {
		return nil, fmt.Errorf("read the log of %s: %w (it is no job of GitHub Actions here)", v.Name, forge.ErrNotFound)
	}
	found, err := s.log(ctx, job, limit)
	return found, s.wrap(err, "read the log of %s", v.Name)
}

// job returns the numbers of a job and its run from the job's page; empty if it is none in this repository.
func (s *Server) job(page string) (run, job string) {
	pattern := regexp.MustCompile(`(?i)^` + regexp.QuoteMeta(s.at.page+"/"+s.owner+"/"+s.name) + `/actions/runs/([0-9]+)/job/([0-9]+)$`)
	if found := pattern.FindStringSubmatch(page); found != nil {
		return found[1], found[2]
	}
	return "", ""
}

func (s *Server) log(ctx context.Context, job string, limit int) ([]forge.StepLog, error) {
	described, _, err := rest.Get[struct{ Steps []joblog.Step }](ctx, s.transport, nil, "actions/jobs/%s", job)
	if err != nil {
		return nil, err
	}
	req, err := s.transport.Request(ctx, rest.Call{Method: http.MethodGet, Path: "actions/jobs/%s/logs", Args: []any{job}})
	if err != nil {
		return nil, err
	}
	resp, err := s.unredirected.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusFound {
		if resp.StatusCode/100 != 2 {
			body, _ := io.ReadAll(resp.Body) // the transport has bounded it
			return nil, s.refusal(resp, body)
		}
		return nil, errNoData
	}
	at, err := resp.Location()
	if err != nil || at.Scheme != "https" && !s.transport.Holds(at) {
		return nil, errors.New("the log's address is not reached by https")
	}
	return s.download(ctx, at.String(), described.Steps, limit)
}

func (s *Server) download(ctx context.Context, address string, steps []joblog.Step, limit int) ([]forge.StepLog, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, rest.CallTimeout, rest.ErrTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("the log's address is none")
	}
	resp, err := s.plain.Do(req)
	if err != nil {
		return nil, s.transport.Unanswered(ctx, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusGone:
		return nil, forge.ErrNotFound
	case resp.StatusCode != http.StatusOK:
		return nil, &forge.Failure{Kind: forge.Unavailable, Status: resp.StatusCode}
	}
	found, err := joblog.Of(io.LimitReader(resp.Body, maxLog), steps, limit)
	return found, s.transport.Unanswered(ctx, err)
}
