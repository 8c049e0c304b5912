package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// maxLog bounds what is downloaded to see the end of a log.
const maxLog = 256 << 20

// Log returns the end of a job's log. GitHub answers with the address of a store, which gets no token. It returns ErrNotFound for a
// verdict that is no job of Actions in this repository, and for a log that was deleted.
func (s *Server) Log(ctx context.Context, v forge.Verdict, limit int) (string, error) {
	job := s.job(v.Page)
	if job == "" {
		return "", fmt.Errorf("read the log of %s: %w (it is no job of GitHub Actions here)", v.Name, forge.ErrNotFound)
	}
	text, err := s.log(ctx, job, limit)
	return text, s.wrap(err, "read the log of %s", v.Name)
}

// job returns a job's number from its page.
func (s *Server) job(page string) string {
	pattern := regexp.MustCompile(`(?i)^` + regexp.QuoteMeta(s.at.page+"/"+s.owner+"/"+s.name) + `/actions/runs/[0-9]+/job/([0-9]+)$`)
	if found := pattern.FindStringSubmatch(page); found != nil {
		return found[1]
	}
	return ""
}

func (s *Server) log(ctx context.Context, job string, limit int) (string, error) {
	req, err := s.prepared(ctx, request{method: http.MethodGet, path: "actions/jobs/%s/logs", args: []any{job}})
	if err != nil {
		return "", err
	}
	resp, err := s.unredirected.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusFound {
		if resp.StatusCode/100 != 2 {
			return "", s.refusal(resp)
		}
		return "", errNoData
	}
	at, err := resp.Location()
	if err != nil || at.Scheme != "https" && !s.transport.Holds(at) {
		return "", errors.New("the log's address is not reached by https")
	}
	return s.download(ctx, at.String(), limit)
}

func (s *Server) download(ctx context.Context, address string, limit int) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, rest.CallTimeout, rest.ErrTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", errors.New("the log's address is none")
	}
	resp, err := s.plain.Do(req)
	if err != nil {
		return "", s.transport.Unanswered(ctx, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusGone:
		return "", forge.ErrNotFound
	case resp.StatusCode != http.StatusOK:
		return "", &forge.Failure{Kind: forge.Unavailable, Status: resp.StatusCode}
	}
	end, err := rest.Tail(io.LimitReader(resp.Body, maxLog), limit)
	if err != nil {
		return "", s.transport.Unanswered(ctx, err)
	}
	return strings.ToValidUTF8(string(end), "\uFFFD"), nil
}
