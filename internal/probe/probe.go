// Package probe owns asking a service whether it is well: one request, the answer that is wanted, and
// where the service is not there yet, starting it beside the request. It refuses to know why somebody
// asks, and what becomes of the answer.
package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// shownBody is how much of an answer is shown, in bytes; no more than maxBody is read of one.
const (
	shownBody = 2 << 10
	maxBody   = 4 << 20
)

// Answer is what was wrong with a service's answer, or that there was none.
type Answer struct{ Problem string }

// Error implements error.
func (a *Answer) Error() string { return a.Problem }

func wrong(format string, args ...any) error { return &Answer{fmt.Sprintf(format, args...)} }

// Ask sends the request to a service that runs. An *Answer says how it did not do. A redirection is an
// answer, too: where it leads was not asked about.
func Ask(ctx context.Context, q workflow.HealthHTTP) error {
	request, err := http.NewRequestWithContext(ctx, q.Method, q.URL, strings.NewReader(q.Body))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	request.Header.Set("User-Agent", "signalbox")
	if strings.HasPrefix(strings.TrimSpace(q.Body), "{") {
		request.Header.Set("Content-Type", "application/json")
	}
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return wrong("%s: %s", named(q), reason(err))
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return wrong("%s: status %d, and then: %s", named(q), response.StatusCode, reason(err))
	}
	return judge(q, response.StatusCode, body)
}

func judge(q workflow.HealthHTTP, status int, body []byte) error {
	shown := redact.Cut(redact.Clean(string(body)), shownBody)
	switch {
	case status != q.Status:
		return wrong("%s: status %d, want %d\n%s", named(q), status, q.Status, shown)
	case !bytes.Contains(body, []byte(q.Contains)):
		return wrong("%s: status %d, but the answer does not contain %q\n%s", named(q), status, q.Contains, shown)
	}
	return nil
}

// named is the request in words, without the port, which is another each time.
func named(q workflow.HealthHTTP) string {
	name := q.URL
	if u, err := url.Parse(q.URL); err == nil && q.Start != "" {
		name = u.RequestURI()
	}
	return q.Method + " " + name
}

// reason is why there was no answer, without the request that it repeats.
func reason(err error) string {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer within its time limit"
	}
	return err.Error()
}

// settle is how long passes between two tries to reach a service that is starting. Nothing tells when
// it listens.
const settle = 20 * time.Millisecond
