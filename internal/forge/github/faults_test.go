package github_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/github/githubtest"
)

func wantFailure(t *testing.T, err error, want forge.Failure) {
	t.Helper()
	var got *forge.Failure
	if !errors.As(err, &got) || got.Kind != want.Kind || got.Status != want.Status || got.RetryAfter != want.RetryAfter {
		t.Errorf("error is %v (%+v), want a failure %+v", err, got, want)
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

func message(text string) string { return fmt.Sprintf(`{"message":%q}`, text) }

var faults = map[string]struct {
	fault githubtest.Fault
	want  forge.Failure
	// is is a sentinel instead of a failure; says is how the error begins.
	is   error
	says string
}{
	"401":                    {fault: githubtest.Fault{Status: 401, Body: message("Bad credentials")}, want: forge.Failure{Kind: forge.Unauthorized, Status: 401}},
	"401 two factors":        {fault: githubtest.Fault{Status: 401, Header: header("X-GitHub-OTP", "required; app")}, want: forge.Failure{Kind: forge.Unavailable, Status: 401}},
	"403 permission":         {fault: githubtest.Fault{Status: 403, Header: header("X-RateLimit-Remaining", "4000"), Body: message("Resource not accessible by personal access token")}, want: forge.Failure{Kind: forge.Forbidden, Status: 403}},
	"403 primary limit":      {fault: githubtest.Fault{Status: 403, Header: header("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", unix(20*time.Minute)), Body: message("API rate limit exceeded")}, want: forge.Failure{Kind: forge.Limited, Status: 403, RetryAfter: 20 * time.Minute}},
	"429 primary limit":      {fault: githubtest.Fault{Status: 429, Header: header("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", unix(time.Minute)), Body: message("API rate limit exceeded")}, want: forge.Failure{Kind: forge.Limited, Status: 429, RetryAfter: time.Minute}},
	"403 reset is past":      {fault: githubtest.Fault{Status: 403, Header: header("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", unix(-time.Hour)), Body: message("API rate limit exceeded")}, want: forge.Failure{Kind: forge.Limited, Status: 403, RetryAfter: time.Second}},
	"403 secondary limit":    {fault: githubtest.Fault{Status: 403, Header: header("Retry-After", "30"), Body: message("You have exceeded a secondary rate limit.")}, want: forge.Failure{Kind: forge.Limited, Status: 403, RetryAfter: 30 * time.Second}},
	"403 secondary, no time": {fault: githubtest.Fault{Status: 403, Header: header(), Body: message("You have exceeded a secondary rate limit.")}, want: forge.Failure{Kind: forge.Limited, Status: 403, RetryAfter: time.Minute}},
	"403 secondary by link":  {fault: githubtest.Fault{Status: 403, Header: header(), Body: `{"message":"Wait","documentation_url":"https://docs.github.com/rest#about-secondary-rate-limits"}`}, want: forge.Failure{Kind: forge.Limited, Status: 403, RetryAfter: time.Minute}},
	"429":                    {fault: githubtest.Fault{Status: 429, Header: header("Retry-After", "7"), Body: message("Too many")}, want: forge.Failure{Kind: forge.Limited, Status: 429, RetryAfter: 7 * time.Second}},
	"429 at a date":          {fault: githubtest.Fault{Status: 429, Header: header("Retry-After", date.Add(90*time.Second).Format(http.TimeFormat)), Body: message("Too many")}, want: forge.Failure{Kind: forge.Limited, Status: 429, RetryAfter: 90 * time.Second}},
	"429 without a time":     {fault: githubtest.Fault{Status: 429, Header: header(), Body: message("Too many")}, want: forge.Failure{Kind: forge.Limited, Status: 429, RetryAfter: time.Minute}},
	"429 for ever":           {fault: githubtest.Fault{Status: 429, Header: header("Retry-After", "99999999999999"), Body: message("Too many")}, want: forge.Failure{Kind: forge.Limited, Status: 429, RetryAfter: 24 * time.Hour}},
	"429 negative":           {fault: githubtest.Fault{Status: 429, Header: header("Retry-After", "-5"), Body: message("Too many")}, want: forge.Failure{Kind: forge.Limited, Status: 429, RetryAfter: time.Second}},
	"429 HTML":               {fault: githubtest.Fault{Status: 429, Header: header("Content-Type", "text/html", "Retry-After", "5"), Body: "<html>"}, want: forge.Failure{Kind: forge.Limited, Status: 429, RetryAfter: 5 * time.Second}},
	"404":                    {fault: githubtest.Fault{Status: 404, Body: message("Not Found")}, is: forge.ErrNotFound},
	"404 HTML":               {fault: githubtest.Fault{Status: 404, Header: header("Content-Type", "text/html"), Body: "<html>"}, want: forge.Failure{Kind: forge.Unavailable, Status: 404}},
	"409":                    {fault: githubtest.Fault{Status: 409, Body: message("Conflict")}, want: forge.Failure{Kind: forge.Refused, Status: 409}},
	"410":                    {fault: githubtest.Fault{Status: 410, Body: message("This issue was deleted")}, is: forge.ErrNotFound},
	"422":                    {fault: githubtest.Fault{Status: 422, Body: message("Validation Failed")}, want: forge.Failure{Kind: forge.Refused, Status: 422}},
	"451":                    {fault: githubtest.Fault{Status: 451, Body: message("Repository access blocked")}, want: forge.Failure{Kind: forge.Forbidden, Status: 451}},
	"500":                    {fault: githubtest.Fault{Status: 500, Body: message("Server Error")}, want: forge.Failure{Kind: forge.Unavailable, Status: 500}},
	"502 HTML":               {fault: githubtest.Fault{Status: 502, Header: header("Content-Type", "text/html"), Body: "<html>Unicorn!</html>"}, want: forge.Failure{Kind: forge.Unavailable, Status: 502}},
	"503 with a time":        {fault: githubtest.Fault{Status: 503, Header: header("Retry-After", "120"), Body: message("Maintenance")}, want: forge.Failure{Kind: forge.Unavailable, Status: 503, RetryAfter: 2 * time.Minute}},
	"200 HTML":               {fault: githubtest.Fault{Status: 200, Header: header("Content-Type", "text/html"), Body: "<html>Sign in</html>"}, want: forge.Failure{Kind: forge.Unavailable, Status: 200}},
	"200 not JSON":           {fault: githubtest.Fault{Status: 200, Body: `<html>`}, want: forge.Failure{Kind: forge.Unavailable, Status: 200}},
	"200 truncated JSON":     {fault: githubtest.Fault{Status: 200, Body: `{"number":1,"title":"Cou`}, want: forge.Failure{Kind: forge.Unavailable, Status: 200}},
	"200 empty":              {fault: githubtest.Fault{Status: 200}, want: forge.Failure{Kind: forge.Unavailable, Status: 200}},
	"200 another type":       {fault: githubtest.Fault{Status: 200, Body: `[1,2]`}, want: forge.Failure{Kind: forge.Unavailable}},
	"200 cut short":          {fault: githubtest.Fault{Status: 200, Body: `{"number":1`, Cut: true}, want: forge.Failure{Kind: forge.Unavailable}},
	"202":                    {fault: githubtest.Fault{Status: 202, Body: `{}`}, want: forge.Failure{Kind: forge.Unavailable}},
	"above 10 MB":            {fault: githubtest.Fault{Status: 200, Body: `{"number":1,"title":"` + strings.Repeat("x", 10<<20) + `"}`}, want: forge.Failure{Kind: forge.Unavailable, Status: 200}, says: "the answer is larger than 10 MB"},
	"elsewhere":              {fault: githubtest.Fault{Status: 302, Header: header("Location", "https://example.org/")}, want: forge.Failure{Kind: forge.Unavailable}},
	"in a circle":            {fault: githubtest.Fault{Times: -1, Status: 301, Header: header("Location", "/api/v3/repos/octo-org/engine/issues/1")}, want: forge.Failure{Kind: forge.Unavailable}},
	"lost":                   {fault: githubtest.Fault{Lose: true, Times: -1}, want: forge.Failure{Kind: forge.Unavailable}},
}

func unix(after time.Duration) string { return strconv.FormatInt(date.Add(after).Unix(), 10) }

func TestEveryFaultOfAServerHasItsKind(t *testing.T) {
	t.Parallel()
	for name, c := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, driver := start(t)
			number := s.Issue("Count", "")
			fault := c.fault
			fault.Path = "/issues/"
			s.Inject(fault)
			_, err := driver.Issue(t.Context(), number)
			if c.is != nil {
				wantIs(t, err, c.is)
				return
			}
			wantFailure(t, err, c.want)
			if err != nil && !strings.HasPrefix(err.Error(), "read issue 1: "+c.says) {
				t.Errorf("the error is %q", err)
			}
		})
	}
}

func TestGraphQLsErrorsHaveTheirKinds(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	answer := func(kind string) string {
		return fmt.Sprintf(`{"data":{"viewer":null},"errors":[{"type":%q,"message":"no"}]}`, kind)
	}
	for kind, want := range map[string]forge.Failure{
		"FORBIDDEN":           {Kind: forge.Forbidden, Status: 200},
		"INSUFFICIENT_SCOPES": {Kind: forge.Forbidden, Status: 200},
		"RATE_LIMITED":        {Kind: forge.Limited, Status: 200, RetryAfter: 10 * time.Minute},
		"UNPROCESSABLE":       {Kind: forge.Refused, Status: 200},
		"":                    {Kind: forge.Unavailable, Status: 200},
	} {
		s.Inject(githubtest.Fault{Status: 200, Header: header("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", unix(10*time.Minute)), Body: answer(kind)})
		_, err := driver.Whoami(t.Context())
		wantFailure(t, err, want)
	}
	s.Inject(githubtest.Fault{Status: 200, Body: answer("NOT_FOUND")})
	_, err := driver.Whoami(t.Context())
	wantIs(t, err, forge.ErrNotFound)
}

func TestAnEndedContextIsNoFailureOfTheServer(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	arrived, never := make(chan struct{}), make(chan struct{})
	s.Inject(githubtest.Fault{Wait: never, Arrived: arrived})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	_, err := driver.Issue(ctx, 1)
	var failure *forge.Failure
	if wantIs(t, err, context.Canceled); errors.As(err, &failure) {
		t.Errorf("it is the failure %+v", failure)
	}
}

// A server, or what is between, may repeat the token or send it elsewhere.
func TestTheTokenIsOnlyEverInItsHeader(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	number := s.Issue("Count", "")
	var elsewhere []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		elsewhere = append(elsewhere, r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	c := config(s)
	const secret = "ghp_ada"
	driver := open(t, c)
	port := must(url.Parse(other.URL))(t).Port()
	for _, fault := range []githubtest.Fault{
		{Status: 422, Body: message("Bad " + secret)}, {Status: 403, Body: message(secret)}, {Status: 404, Body: message(secret)},
		{Status: 301, Header: header("Location", other.URL+"/api/v3/x?t="+secret)}, {Status: 307, Header: header("Location", "http://localhost:"+port+"/"+secret)},
		{Status: 200, Header: header("Content-Type", secret), Body: secret},
	} {
		s.Inject(fault)
		_, err := driver.Issue(t.Context(), number)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("status %d: the error is %v", fault.Status, err)
		}
		s.Inject(fault)
		if _, err := driver.CreateIssue(t.Context(), "title", "body"); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("status %d: the error is %v", fault.Status, err)
		}
	}
	if len(elsewhere) > 0 {
		t.Errorf("another server was asked, with %q", elsewhere)
	}
	for _, r := range s.Requests() {
		if strings.Contains(r.Line, secret) || r.Auth != "Bearer "+secret {
			t.Errorf("%s has Authorization %q", r.Line, r.Auth)
		}
	}
}

func TestWithoutATokenNothingIsAsked(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	for _, bad := range []string{"", "a\r\nX-Evil: 1"} {
		c := config(s)
		c.Token = token(bad)
		_, err := open(t, c).Repository(t.Context())
		wantFailure(t, err, forge.Failure{Kind: forge.Unauthorized})
	}
	c := config(s)
	broken := errors.New("gh is not signed in")
	c.Token = func(context.Context) (string, error) { return "", broken }
	_, err := open(t, c).Repository(t.Context())
	if wantIs(t, err, broken); len(s.Requests()) > 0 {
		t.Error("the server was asked")
	}
}

// Each call that creates something is performed and its answer lost. The driver says so, and the look-up that follows finds the one.
func TestALostAnswerIsFoundAgain(t *testing.T) {
	t.Parallel()
	s, driver := start(t)
	lost := func(method, path string) { s.Inject(githubtest.Fault{Method: method, Path: path, Lose: true}) }
	unavailable := forge.Failure{Kind: forge.Unavailable}

	if before := must(driver.Issues(t.Context(), forge.Query{}, 10))(t); len(before) != 0 {
		t.Fatalf("there are %d issues", len(before))
	}
	lost("POST", "/issues")
	_, err := driver.CreateIssue(t.Context(), "Once", "")
	wantFailure(t, err, unavailable)
	issues := must(driver.Issues(t.Context(), forge.Query{}, 10))(t)
	if len(issues) != 1 || issues[0].Title != "Once" {
		t.Fatalf("the issues are %+v", issues)
	}

	lost("POST", "/comments")
	_, err = driver.CreateRemark(t.Context(), forge.OnIssue(issues[0].Number), "once")
	wantFailure(t, err, unavailable)
	if remarks := must(driver.Remarks(t.Context(), forge.OnIssue(issues[0].Number)))(t); len(remarks) != 1 || remarks[0].Body != "once" {
		t.Errorf("the comments are %+v", remarks)
	}

	head := s.Commit("topic", map[string]string{"a": "1"})
	lost("POST", "/pulls")
	_, err = driver.Propose(t.Context(), forge.Proposal{Title: "t", Branch: "topic", Base: "main", Draft: true})
	wantFailure(t, err, unavailable)
	p := must(driver.ProposalOf(t.Context(), "", "topic"))(t)
	_, err = driver.Propose(t.Context(), p)
	wantIs(t, err, forge.ErrExists)

	p.Draft = false
	lost("POST", "/graphql")
	wantFailure(t, driver.EditProposal(t.Context(), p), unavailable)
	ok(t, driver.EditProposal(t.Context(), p))

	lost("POST", "/statuses/")
	wantFailure(t, driver.Publish(t.Context(), head, forge.Verdict{Name: "v", State: forge.Passed}), unavailable)
	ok(t, driver.Publish(t.Context(), head, forge.Verdict{Name: "v", State: forge.Passed}))
	if got := states(t, driver, head); len(got) != 1 {
		t.Errorf("the verdicts are %v", got)
	}

	lost("PUT", "/merge")
	wantFailure(t, driver.MergeProposal(t.Context(), p.Number, head, "m"), unavailable)
	merged := s.Head("main")
	ok(t, driver.MergeProposal(t.Context(), p.Number, head, "m"))
	if got := must(driver.Proposal(t.Context(), p.Number))(t); got.State != forge.Merged || got.MergeCommit != merged || s.Head("main") != merged {
		t.Errorf("merged as %+v", got)
	}
}
