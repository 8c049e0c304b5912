package github_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/github"
)

// FuzzAnswer has a server, or what is between, answer anything. Each call ends with an error of a known kind or a result; no error
// has the token or more than one line, and no wait is longer than a day.
func FuzzAnswer(f *testing.F) {
	for _, c := range faults {
		if len(c.fault.Body) < 1000 {
			f.Add(c.fault.Status, c.fault.Header.Get("Content-Type"), c.fault.Header.Get("Retry-After"), c.fault.Header.Get("X-RateLimit-Reset"), []byte(c.fault.Body))
		}
	}
	f.Add(200, "application/json", "", "", []byte(`{"number":7,"repository_url":"https://api.github.com/repos/o/n"}`))
	f.Add(200, "application/json", "", "", []byte(`{"number":7,"created_at":"ghp_token\u001b"}`))
	for _, body := range []string{
		`null`, `[null]`, `[]`, `{"items":[null]}`, `{"sha":"0123456789012345678901234567890123456789","statuses":[null],"check_runs":[null]}`,
		`{"required_status_checks":{"checks":[null],"contexts":null}}`, `{"labels":[null],"number":7,"repository_url":"https://api.github.com/repos/o/n"}`,
		`{"data":null}`, `{"data":{"repository":{"pullRequest":{"reviewThreads":{"nodes":[null],"pageInfo":null}}}}}`, `{"data":null,"errors":[{"message":"ghp_token"}]}`,
		`[{"type":7},{"type":"pull_request","parameters":[]}]`,
	} {
		f.Add(200, "application/json", "", "", []byte(body))
	}
	f.Add(204, "application/json", "", "", []byte(nil))
	f.Add(422, "application/json", "", "", []byte(`{"message":"\u001b[31mghp_token\n\n","errors":[null,1,"x",{"message":"ghp_token"},{"code":7}]}`))
	f.Fuzz(func(t *testing.T, status int, kind, after, reset string, body []byte) {
		if status < 200 || status > 599 || slices.ContainsFunc([]string{kind, after, reset}, func(s string) bool { return strings.ContainsAny(s, "\r\n\x00") }) {
			return // net/http lets none of these through
		}
		answer := roundTripper(func(r *http.Request) (*http.Response, error) {
			h := http.Header{"Content-Type": {kind}, "Retry-After": {after}, "X-Ratelimit-Reset": {reset}, "X-Ratelimit-Remaining": {"0"}}
			return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
		})
		driver, err := github.New(github.Config{Owner: "o", Name: "n", Token: token("ghp_token"), Client: &http.Client{Transport: answer}, Now: time.Now})
		ok(t, err)
		for name, err := range readAll(t, driver) {
			var failure *forge.Failure
			switch {
			case err == nil:
				continue
			case errors.As(err, &failure):
				if failure.Kind == "" || failure.RetryAfter < 0 || failure.RetryAfter > 24*time.Hour {
					t.Errorf("%s: the failure is %+v", name, failure)
				}
			case !errors.Is(err, forge.ErrNotFound):
				t.Errorf("%s: the error is of no kind: %v", name, err)
			}
			if text := err.Error(); strings.Contains(text, "ghp_token") || strings.ContainsAny(text, "\n\x1b") {
				t.Errorf("%s: the error is %q", name, text)
			}
		}
	})
}

// readAll calls what reads.
func readAll(t *testing.T, driver *github.Server) map[string]error {
	const commit = "0123456789012345678901234567890123456789"
	errs := map[string]error{}
	_, errs["Whoami"] = driver.Whoami(t.Context())
	_, errs["Repository"] = driver.Repository(t.Context())
	_, errs["Issue"] = driver.Issue(t.Context(), 7)
	_, errs["Issues"] = driver.Issues(t.Context(), forge.Query{}, 10)
	_, errs["search"] = driver.Issues(t.Context(), forge.Query{Text: "x"}, 10)
	_, errs["Remarks"] = driver.Remarks(t.Context(), forge.OnIssue(7))
	_, errs["Proposal"] = driver.Proposal(t.Context(), 7)
	_, errs["ProposalOf"] = driver.ProposalOf(t.Context(), "", "topic")
	_, errs["Verdicts"] = driver.Verdicts(t.Context(), commit)
	_, errs["Required"] = driver.Required(t.Context(), "main")
	_, errs["Reviews"] = driver.Reviews(t.Context(), 7)
	_, errs["Threads"] = driver.Threads(t.Context(), 7)
	_, errs["MayWrite"] = driver.MayWrite(t.Context(), "ada")
	errs["MergeProposal"] = driver.MergeProposal(t.Context(), 7, commit, "m")
	errs["Enqueue"] = driver.Enqueue(t.Context(), 7, commit)
	errs["EditProposal"] = driver.EditProposal(t.Context(), forge.Proposal{Number: 7})
	errs["Label"] = driver.Label(t.Context(), forge.OnIssue(7), []string{"a"}, []string{"b"})
	errs["Publish"] = driver.Publish(t.Context(), commit, forge.Verdict{Name: "v"})
	for name, err := range errs { // what the driver says itself is of no kind
		if errors.Is(err, forge.ErrHeadMoved) || errors.Is(err, forge.ErrConflict) || errors.Is(err, forge.ErrNotReady) || errors.Is(err, forge.ErrExists) {
			delete(errs, name)
		}
	}
	return errs
}
