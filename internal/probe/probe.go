// Package probe asks a service whether it is well: it sends one request, compares the answer with the
// expected one and, if needed, starts the service first. It doesn't know why it is asked, and doesn't act
// on the answer.
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

// shownBody is how much of an answer is shown, and maxBody how much is read, in bytes.
const (
	shownBody = 2 << 10
	maxBody   = 4 << 20
)

// Answer is the error for a wrong answer, or for none.
type Answer struct{ Problem string }

// Error implements error.
func (a *Answer) Error() string { return a.Problem }

func wrong(format string, args ...any) error { return &Answer{fmt.Sprintf(format, args...)} }

// Ask sends the request to a running service. It returns an *Answer if the response isn't the expected
// one. A redirect counts as the response; it isn't followed.
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
	shown := redact.Cut(redact.Clean(string(body)), shownBody)
	switch {
	case response.StatusCode != q.Status:
		return wrong("%s: status %d, want %d\n%s", named(q), response.StatusCode, q.Status, shown)
	case !bytes.Contains(body, []byte(q.Contains)):
		return wrong("%s: status %d, but the answer does not contain %q\n%s", named(q), response.StatusCode, q.Contains, shown)
	}
	return nil
}

// named describes the request without its port, which differs each time.
func named(q workflow.HealthHTTP) string {
	name := q.URL
	if u, err := url.Parse(q.URL); err == nil && q.Start != "" {
		name = u.RequestURI()
	}
	return q.Method + " " + name
}

// reason returns why there was no answer, without the URL that net/http repeats.
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

// settle is the time between two attempts to reach a starting service. Nothing signals that it listens.
const settle = 20 * time.Millisecond
