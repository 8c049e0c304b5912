package gitlab

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

// maxLog bounds what is read to see the end of a log.
const maxLog = 256 << 20

// Log returns the end of a job's log, or ErrNotFound: another CI reported the verdict, or the log is gone.
func (s *Server) Log(ctx context.Context, v forge.Verdict, limit int) (string, error) {
	job := s.job(v.Page)
	if job == "" {
		return "", fmt.Errorf("read the log of %q: %w (it is no job of GitLab here)", s.transport.Clean(v.Name), forge.ErrNotFound)
	}
	text, err := s.log(ctx, job, limit)
	return text, s.wrap(err, "read the log of %q", s.transport.Clean(v.Name))
}

// job returns a job's number from its page.
func (s *Server) job(page string) string {
	pattern := regexp.MustCompile(`(?i)^` + regexp.QuoteMeta(s.page+"/"+s.path) + `/-/jobs/([0-9]+)$`)
	if found := pattern.FindStringSubmatch(page); found != nil {
		return found[1]
	}
	return ""
}

// log reads the log itself, or where GitLab says that it is stored: that place gets no token.
func (s *Server) log(ctx context.Context, job string, limit int) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, rest.CallTimeout, rest.ErrTimeout)
	defer cancel()
	req, err := s.prepared(ctx, request{method: http.MethodGet, path: "jobs/%s/trace", args: []any{job}})
	if err != nil {
		return "", err
	}
	req.Header.Set("Accept", "text/plain")
	resp, err := s.transport.Open(req)
	if err == nil && resp.StatusCode/100 == 3 {
		resp.Body.Close()
		resp, err = s.stored(ctx, resp)
	}
	if err != nil {
		return "", s.transport.Unanswered(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what can't be read is judged by its status
		return "", s.refusal(resp, body)
	}
	end, err := rest.Tail(io.LimitReader(resp.Body, maxLog), limit)
	return strings.ToValidUTF8(string(end), "\uFFFD"), s.transport.Unanswered(ctx, err)
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
