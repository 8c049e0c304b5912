package gitlab_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/gitlab"
	"signalbox/internal/forge/gitlab/gitlabtest"
)

func wantIs(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("the error is %v, want %v", err, want)
	}
}

// date is the server's, two hours off the driver's clock: what a server says of times is judged by its own.
var date = time.Date(2026, 11, 25, 14, 0, 0, 0, time.UTC)

func header(pairs ...string) http.Header {
	h := http.Header{"Date": {date.Format(http.TimeFormat)}}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func unix(after time.Duration) string { return strconv.FormatInt(date.Add(after).Unix(), 10) }

var faults = map[string]struct {
	fault gitlabtest.Fault
	want  forge.Failure
	// is is a sentinel instead of a failure; says is a part of the error.
	is   error
	says string
}{
	"401":                {fault: gitlabtest.Fault{Status: 401, Body: `{"message":"401 Unauthorized"}`}, want: forge.Failure{Kind: forge.Unauthorized, Status: 401}, says: "401 Unauthorized"},
	"401 expired":        {fault: gitlabtest.Fault{Status: 401, Body: `{"error":"invalid_token","error_description":"Token is expired. You can either do re-authorization or token refresh."}`}, want: forge.Failure{Kind: forge.Unauthorized, Status: 401}, says: "Token is expired"},
	"403":                {fault: gitlabtest.Fault{Status: 403, Header: header("RateLimit-Remaining", "0", "RateLimit-Reset", unix(time.Minute)), Body: `{"message":"403 Forbidden"}`}, want: forge.Failure{Kind: forge.Forbidden, Status: 403}},
	"403 scope":          {fault: gitlabtest.Fault{Status: 403, Body: `{"error":"insufficient_scope","error_description":"The request requires higher privileges than provided by the access token.","scope":"api read_api"}`}, want: forge.Failure{Kind: forge.Forbidden, Status: 403}, says: "insufficient_scope"},
	"429":                {fault: gitlabtest.Fault{Status: 429, Header: header("Retry-After", "37", "RateLimit-Reset", unix(time.Hour)), Body: `{"message":"Retry later"}`}, want: forge.Failure{Kind: forge.Limited, Status: 429, RetryAfter: 37 * time.Second}},
	"429 by reset":       {fault: gitlabtest.Fault{Status: 429, Header: header("RateLimit-Remaining", "0", "RateLimit-Reset", unix(20*time.Second)), Body: `{"message":"Retry later"}`}, want: forge.Failure{Kind: forge.Limited, Status: 429, RetryAfter: 20 * time.Second}},
	"429 plain text":     {fault: gitlabtest.Fault{Status: 429, Header: header("Content-Type", "text/plain", "Retry-After", "5"), Body: "Retry later\n"}, want: forge.Failure{Kind: forge.Limited, Status: 429, RetryAfter: 5 * time.Second}},
	"429 without a time": {fault: gitlabtest.Fault{Status: 429, Header: header(), Body: `{"message":"Retry later"}`}, want: forge.Failure{Kind: forge.Limited, Status: 429, RetryAfter: time.Minute}},
	"404":                {fault: gitlabtest.Fault{Status: 404, Body: `{"message":"404 Project Not Found"}`}, is: forge.ErrNotFound},
	"404 HTML":           {fault: gitlabtest.Fault{Status: 404, Header: header("Content-Type", "text/html"), Body: "<html>"}, want: forge.Failure{Kind: forge.Unavailable, Status: 404}},
	"400 by field":       {fault: gitlabtest.Fault{Status: 400, Body: `{"message":{"title":["can't be blank","is too short"],"base":["x"]}}`}, want: forge.Failure{Kind: forge.Refused, Status: 400}, says: "base x, title can't be blank, is too short"},
	"422":                {fault: gitlabtest.Fault{Status: 422, Body: `{"message":["one","two"]}`}, want: forge.Failure{Kind: forge.Refused, Status: 422}, says: "one, two"},
	"500":                {fault: gitlabtest.Fault{Status: 500, Body: `{"message":"500 Internal Server Error"}`}, want: forge.Failure{Kind: forge.Unavailable, Status: 500}},
	"502 HTML":           {fault: gitlabtest.Fault{Status: 502, Header: header("Content-Type", "text/html"), Body: "<html>GitLab is not responding</html>"}, want: forge.Failure{Kind: forge.Unavailable, Status: 502}},
	"503 with a time":    {fault: gitlabtest.Fault{Status: 503, Header: header("Retry-After", "120"), Body: `{"message":"Maintenance"}`}, want: forge.Failure{Kind: forge.Unavailable, Status: 503, RetryAfter: 2 * time.Minute}},
	"200 HTML":           {fault: gitlabtest.Fault{Status: 200, Header: header("Content-Type", "text/html"), Body: "<html>Sign in</html>"}, want: forge.Failure{Kind: forge.Unavailable, Status: 200}},
	"200 truncated":      {fault: gitlabtest.Fault{Status: 200, Body: `{"iid":1,"title":"Cou`}, want: forge.Failure{Kind: forge.Unavailable, Status: 200}},
	"200 null":           {fault: gitlabtest.Fault{Status: 200, Body: `null`}, want: forge.Failure{Kind: forge.Unavailable, Status: 200}},
	"200 another type":   {fault: gitlabtest.Fault{Status: 200, Body: `[1,2]`}, want: forge.Failure{Kind: forge.Unavailable}},
	"200 cut short":      {fault: gitlabtest.Fault{Status: 200, Body: `{"iid":1`, Cut: true}, want: forge.Failure{Kind: forge.Unavailable}},
	"above 10 MB":        {fault: gitlabtest.Fault{Status: 200, Body: `{"iid":1,"title":"` + strings.Repeat("x", 10<<20) + `"}`}, want: forge.Failure{Kind: forge.Unavailable, Status: 200}, says: "larger than 10 MB"},
	"elsewhere":          {fault: gitlabtest.Fault{Status: 302, Header: header("Location", "https://example.org/users/sign_in")}, want: forge.Failure{Kind: forge.Unavailable}},
	"lost":               {fault: gitlabtest.Fault{Lose: true, Times: -1}, want: forge.Failure{Kind: forge.Unavailable}},
}

func TestEveryFaultOfAServerHasItsKind(t *testing.T) {
	t.Parallel()
	s := gitlabtest.New(t)
	number := s.Issue("Count", "")
	for name, c := range faults {
		t.Run(name, func(t *testing.T) {
			driver := open(t, s, "glpat-ada", gitlab.PrivateToken)
			fault := c.fault
			fault.Path = "/issues/"
			defer s.Inject(fault)()
			_, err := driver.Issue(t.Context(), number)
			var got *forge.Failure
			switch {
			case c.is != nil:
				wantIs(t, err, c.is)
			case !errors.As(err, &got) || got.Kind != c.want.Kind || got.Status != c.want.Status || got.RetryAfter != c.want.RetryAfter:
				t.Errorf("the error is %v (%+v), want a failure %+v", err, got, c.want)
			case !strings.HasPrefix(err.Error(), "read issue 1: ") || !strings.Contains(err.Error(), c.says):
				t.Errorf("the error is %q, want one with %q", err, c.says)
			}
		})
	}
}

func TestAProjectThatMovedIsReadAtItsPresentPlace(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	number := s.Issue("Count", "")
	s.Inject(gitlabtest.Fault{Path: "/issues/", Status: 301, Header: header("Location", "/api/v4/projects/octo%2Ftools%2Fengine/issues/1")})
	if got := must(driver.Issue(t.Context(), number))(t); got.Title != "Count" {
		t.Errorf("the issue is %+v", got)
	}
}

func TestATokenGoesToItsServerAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, path string }{
		{"http://gitlab.example.com", "a/b"}, {"https://ada:secret@gitlab.example.com", "a/b"}, {"ftp://x", "a/b"}, {"", "a/b"}, {"https://x/?a=b", "a/b"},
		{"https://gitlab.com", "a"}, {"https://gitlab.com", "a/../b"}, {"https://gitlab.com", "a/b?c"}, {"https://gitlab.com", "-a/b"}, {"https://gitlab.com", "/a/b"},
	} {
		_, err := gitlab.New(gitlab.Config{URL: c.url, Path: c.path, Token: token("x"), Now: time.Now})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q and %q give %v", c.url, c.path, err)
		}
	}
	if _, err := gitlab.New(gitlab.Config{URL: "https://gitlab.com", Path: "a/b", Now: time.Now}); err == nil {
		t.Error("there is a driver without a token")
	}
	s := gitlabtest.New(t)
	s.Issue("Count", "")
	for how, text := range map[gitlab.Shown]string{"": "glpat-ada", gitlab.PrivateToken: "glpat-ada", gitlab.Bearer: "glpat-ada"} {
		if got := must(open(t, s, text, how).Issue(t.Context(), 1))(t); got.Number != 1 {
			t.Errorf("shown as %q, the issue is %+v", how, got)
		}
	}
	job := open(t, s, "job-ada", gitlab.JobToken)
	if me := must(job.Whoami(t.Context()))(t); me.Name != gitlabtest.Person {
		t.Errorf("the job's token is of %+v", me)
	}
	_, err := job.Issue(t.Context(), 1)
	var f *forge.Failure
	if !errors.As(err, &f) || f.Kind != forge.Unauthorized {
		t.Errorf("a job's token reads an issue: %v", err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// FuzzAnswer has a server, or what is between, answer anything. Each call ends with an error of a known kind or a result; no error has the token or
// more than one line, and no wait is longer than a day.
func FuzzAnswer(f *testing.F) {
	const commit = "0123456789012345678901234567890123456789"
	for _, c := range faults {
		if len(c.fault.Body) < 1000 {
			f.Add(c.fault.Status, c.fault.Header.Get("Content-Type"), c.fault.Header.Get("Retry-After"), []byte(c.fault.Body))
		}
	}
	for _, body := range []string{
		`[null]`, `[]`, `{}`, `{"approved_by":[null]}`, `[{"iid":7,"state":"opened","sha":"` + commit + `"}]`, `{"sha":"` + commit + `","state":"opened","head_pipeline":{"ref":"x/merge"}}`,
		`[{"notes":[{"type":"DiffNote","position":null},null]}]`, `{"message":{"a":[null,{"b":7}]}}`, `{"message":"\u001b[31mglpat-x\n"}`, `{"iid":"glpat-x"}`,
	} {
		f.Add(200, "application/json", "", []byte(body))
		f.Add(405, "application/json", "", []byte(body))
	}
	f.Fuzz(func(t *testing.T, status int, kind, after string, body []byte) {
		if status < 200 || status > 599 || strings.ContainsAny(kind+after, "\r\n\x00") {
			return // net/http lets none of these through
		}
		answer := roundTripper(func(r *http.Request) (*http.Response, error) {
			h := http.Header{"Content-Type": {kind}, "Retry-After": {after}, "Ratelimit-Reset": {after}, "Ratelimit-Remaining": {"0"}}
			return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
		})
		driver := must(gitlab.New(gitlab.Config{URL: "https://gitlab.example.com", Path: "o/n", Token: token("glpat-x"), Client: &http.Client{Transport: answer}, Now: time.Now}))(t)
		errs := map[string]error{}
		_, errs["Whoami"] = driver.Whoami(t.Context())
		_, errs["Repository"] = driver.Repository(t.Context())
		_, errs["Issue"] = driver.Issue(t.Context(), 7)
		_, errs["Issues"] = driver.Issues(t.Context(), forge.Query{}, 10)
		_, errs["Remarks"] = driver.Remarks(t.Context(), forge.OnPull(7))
		_, errs["Proposal"] = driver.Proposal(t.Context(), 7)
		_, errs["ProposalOf"] = driver.ProposalOf(t.Context(), "", "topic")
		_, errs["Verdicts"] = driver.Verdicts(t.Context(), commit)
		_, errs["Required"] = driver.Required(t.Context(), "main")
		_, errs["Reviews"] = driver.Reviews(t.Context(), 7)
		_, errs["Threads"] = driver.Threads(t.Context(), 7)
		_, errs["MayWrite"] = driver.MayWrite(t.Context(), "ada")
		_, errs["Log"] = driver.Log(t.Context(), forge.Verdict{Page: "https://gitlab.example.com/o/n/-/jobs/7"}, 100)
		errs["MergeProposal"] = driver.MergeProposal(t.Context(), 7, commit, "m")
		errs["Enqueue"] = driver.Enqueue(t.Context(), 7, commit)
		errs["Label"] = driver.Label(t.Context(), forge.OnIssue(7), []string{"a"}, nil)
		errs["Publish"] = driver.Publish(t.Context(), commit, forge.Verdict{Name: "v"})
		errs["Acknowledge"] = driver.Acknowledge(t.Context(), forge.Remark{ID: 7})
		errs["Answer"] = driver.Answer(t.Context(), 7, forge.Thread{ID: "x"}, "b", true)
		for name, err := range errs {
			wantKnown(t, name, err)
		}
	})
}

func wantKnown(t *testing.T, name string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	var failure *forge.Failure
	known := slices.ContainsFunc([]error{forge.ErrNotFound, forge.ErrHeadMoved, forge.ErrConflict, forge.ErrNotReady, forge.ErrExists}, func(is error) bool { return errors.Is(err, is) })
	if errors.As(err, &failure) {
		known = failure.Kind != "" && failure.RetryAfter >= 0 && failure.RetryAfter <= 24*time.Hour
	}
	if text := err.Error(); !known || strings.Contains(text, "glpat-x") || strings.ContainsAny(text, "\n\x1b") {
		t.Errorf("%s: the error is of no kind, or shows too much: %q (%+v)", name, text, failure)
	}
}
