package gitea_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/gitea"
)

const secretToken = "a-token-that-no-error-shows"

// answering returns a driver for a server that gives every call this answer.
func answering(t *testing.T, answer http.HandlerFunc) *gitea.Server {
	t.Helper()
	fake := httptest.NewServer(answer)
	t.Cleanup(fake.Close)
	driver, err := gitea.New(gitea.Config{URL: fake.URL + "/sub/", Owner: "o", Name: "r", Now: func() time.Time { return time.Unix(1_800_000_000, 0) },
		Token: func(context.Context) (string, error) { return secretToken, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return driver
}

func TestEveryRefusalSaysWhatCanBeDone(t *testing.T) {
	t.Parallel()
	const message = `{"message":"no \u001b[31m ` + "`x`" + `","url":"http://x/api/swagger"}`
	soon := time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		name   string
		status int
		header http.Header
		body   string
		kind   forge.FailureKind
		after  time.Duration
		is     error
	}{
		{name: "an expired token", status: 401, body: message, kind: forge.Unauthorized},
		{name: "a missing right", status: 403, body: message, kind: forge.Forbidden},
		{name: "a limit of a proxy", status: 403, header: http.Header{"Retry-After": {"7"}}, body: "<html>", kind: forge.Limited, after: 7 * time.Second},
		{name: "nothing there", status: 404, body: message, is: forge.ErrNotFound},
		{name: "gone", status: 410, is: forge.ErrNotFound},
		{name: "a wrong way", status: 405, body: message, kind: forge.Refused},
		{name: "a conflict", status: 409, body: message, kind: forge.Refused},
		{name: "a wrong value", status: 422, body: message, kind: forge.Refused},
		{name: "an archived repository", status: 423, body: message, kind: forge.Refused},
		{name: "too many calls", status: 429, body: message, kind: forge.Limited, after: time.Minute},
		{name: "too many calls until", status: 429, header: http.Header{"Retry-After": {soon.Add(90 * time.Second).UTC().Format(http.TimeFormat)}, "Date": {soon.UTC().Format(http.TimeFormat)}},
			kind: forge.Limited, after: 90 * time.Second},
		{name: "too many calls until the clock is wrong", status: 429, header: http.Header{"Retry-After": {"999999999999"}}, kind: forge.Limited, after: 24 * time.Hour},
		{name: "too many calls for a year", status: 429, header: http.Header{"Retry-After": {"31536000"}}, kind: forge.Limited, after: 24 * time.Hour},
		{name: "a failure", status: 500, body: message, kind: forge.Unavailable},
		{name: "a proxy without a server", status: 502, body: "<html><body>Bad Gateway</body></html>", kind: forge.Unavailable},
		{name: "maintenance", status: 503, header: http.Header{"Retry-After": {"120"}}, kind: forge.Unavailable, after: 2 * time.Minute},
		{name: "another address", status: 307, header: http.Header{"Location": {"https://u:" + secretToken + "@other.example.org/x?token=" + secretToken}}, kind: forge.Refused},
		{name: "a page instead of an answer", status: 200, body: "<html>Log in</html>", kind: forge.Unavailable},
		{name: "half an answer", status: 200, body: `{"id": 1, "login": "a`, kind: forge.Unavailable},
		{name: "no answer", status: 200, kind: forge.Unavailable},
		{name: "an answer of another form", status: 200, body: `[1]`, kind: forge.Unavailable},
		{name: "too much of an answer", status: 200, body: `{"login":"` + strings.Repeat("x", 10<<20) + `"}`, kind: forge.Unavailable},
		{name: "too much of a refusal", status: 403, body: `{"message":"` + strings.Repeat("x", 10<<20) + `"}`, kind: forge.Forbidden},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			driver := answering(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "token "+secretToken || r.URL.Path != "/sub/api/v1/user" || r.URL.RawQuery != "" {
					t.Errorf("asked for %s with %q", r.URL, r.Header.Get("Authorization"))
				}
				for name, values := range c.header {
					w.Header()[name] = values
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			})
			_, err := driver.Whoami(t.Context())
			wantFailure(t, err, c.kind, c.after, c.is)
		})
	}
}

func wantFailure(t *testing.T, err error, kind forge.FailureKind, after time.Duration, is error) {
	t.Helper()
	if err == nil || strings.Contains(err.Error(), secretToken) || strings.ContainsAny(err.Error(), "\x1b\n") || len(err.Error()) > 1000 {
		t.Fatalf("the error is %.1000v", err)
	}
	if is != nil {
		if !errors.Is(err, is) {
			t.Errorf("the error is %v, want %v", err, is)
		}
		return
	}
	var f *forge.Failure
	if !errors.As(err, &f) || f.Kind != kind || f.RetryAfter != after {
		t.Errorf("the failure is %+v, want %s after %s", f, kind, after)
	}
}

func TestAServerThatCannotBeReachedIsUnavailable(t *testing.T) {
	t.Parallel()
	cut := answering(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	_, err := cut.Whoami(t.Context())
	wantFailure(t, err, forge.Unavailable, 0, nil)
	short := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"login":`))
	})
	_, err = short.CreateIssue(t.Context(), "t", "b")
	wantFailure(t, err, forge.Unavailable, 0, nil)
	ended, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("stopped by a person")
	cancel(reason)
	if _, err := cut.Whoami(ended); !errors.Is(err, reason) {
		t.Errorf("an ended call gives %v", err)
	}
}

func TestWhatGiteaSaysToAMergeIsUnderstood(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		is     error
		kind   forge.FailureKind
	}{
		{status: 200},
		{status: 405, body: `{"message":"The PR is already merged"}`},
		{status: 405, body: `{"message":"Please try again later"}`, is: forge.ErrNotReady},
		{status: 405, body: `{"message":"not ready to merge: Not all required status checks successful"}`, is: forge.ErrNotReady},
		{status: 405, body: `{"message":"not ready to merge: Does not have enough approvals"}`, is: forge.ErrNotReady},
		{status: 405, body: `{"message":"User not allowed to merge PR"}`, kind: forge.Forbidden},
		{status: 405, body: `{"message":"Work in progress PRs cannot be merged"}`, kind: forge.Refused},
		{status: 405, body: `{"message":"merge is not allowed an allowed merge style for this repository"}`, kind: forge.Refused},
		{status: 409, body: `{"message":"head out of date"}`, is: forge.ErrHeadMoved},
		{status: 409, body: `{"message":"merge push out of date"}`, is: forge.ErrNotReady},
		{status: 409, body: `{"message":"PushRejected with remote message: cannot lock ref 'refs/heads/main': is at a but expected b"}`, is: forge.ErrNotReady},
		{status: 409, body: `{"message":"PushRejected with remote message: a hook says no"}`, kind: forge.Refused},
		{status: 409, body: `{"Style":"merge","StdOut":"CONFLICT (content)","StdErr":"","Err":{}}`, is: forge.ErrConflict},
		{status: 404, body: `{"message":"not found"}`, is: forge.ErrNotFound},
	} {
		driver := answering(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				_, _ = w.Write([]byte(`{"full_name":"o/r","allow_merge_commits":true,"allow_squash_merge":true,"default_merge_style":"squash"}`))
				return
			}
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.body))
		})
		err := driver.MergeProposal(t.Context(), 1, strings.Repeat("a", 40), "m")
		switch {
		case c.is == nil && c.kind == "":
			if err != nil {
				t.Errorf("%d %s gives %v", c.status, c.body, err)
			}
		default:
			wantFailure(t, err, c.kind, 0, c.is)
		}
	}
}

func TestOnlyAnAddressAndARepositoryAreTaken(t *testing.T) {
	t.Parallel()
	token := func(context.Context) (string, error) { return secretToken, nil }
	for _, c := range []gitea.Config{
		{URL: "https://git.example.org", Owner: "..", Name: "r", Token: token},
		{URL: "https://git.example.org", Owner: "o", Name: "r/../../x", Token: token},
		{URL: "https://git.example.org", Owner: "o", Name: "", Token: token},
		{URL: "https://u:" + secretToken + "@git.example.org", Owner: "o", Name: "r", Token: token},
		{URL: "https://git.example.org?token=" + secretToken, Owner: "o", Name: "r", Token: token},
		{URL: "ftp://git.example.org", Owner: "o", Name: "r", Token: token},
		{URL: "git.example.org", Owner: "o", Name: "r", Token: token},
		{URL: "https://git.example.org\n", Owner: "o", Name: "r", Token: token},
		{URL: "https://git.example.org", Owner: "o", Name: "r"},
	} {
		if _, err := gitea.New(c); err == nil || strings.Contains(err.Error(), secretToken) {
			t.Errorf("%q %q/%q gives %v", c.URL, c.Owner, c.Name, err)
		}
	}
}

func TestAListIsReadToItsEndAndNoFurtherThanAsked(t *testing.T) {
	t.Parallel()
	calls := 0
	driver := answering(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		page := r.URL.Query().Get("page")
		if page != "3" {
			w.Header().Set("Link", `<http://x/?page=2>; rel="next",<http://x/?page=3>; rel="last"`)
		}
		_, _ = fmt.Fprintf(w, `[{"number": %s1},{"number": %s2}]`, page, page)
	})
	for limit, want := range map[int]int{1: 1, 3: 3, 100: 6} {
		if issues, err := driver.Issues(t.Context(), forge.Query{}, limit); err != nil || len(issues) != want {
			t.Errorf("with a limit of %d: %d issues, %v, want %d", limit, len(issues), err, want)
		}
	}
	if calls != 6 {
		t.Errorf("there were %d calls, want 6", calls)
	}
}

type late struct{}

func (late) RoundTrip(*http.Request) (*http.Response, error) { return nil, os.ErrDeadlineExceeded }

func TestASilentServerIsNamedWithTheTimeThatItHad(t *testing.T) {
	t.Parallel()
	driver, err := gitea.New(gitea.Config{URL: "https://git.example.org", Owner: "o", Name: "r", Now: time.Now, Client: &http.Client{Transport: late{}},
		Token: func(context.Context) (string, error) { return secretToken, nil }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = driver.Whoami(t.Context()); err == nil || !strings.Contains(err.Error(), "the server at git.example.org did not answer within 60 s") {
		t.Errorf("it says %v", err)
	}
}

func TestARenamedRepositoryIsNamed(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{"/sub/api/v1/repos/new/name?x=y": "/sub/new/name", "/sub/api/v1/repos/o/r": "", "https://evil.example/sub/api/v1/repos/new/name": "",
		"/sub/api/v1/repos/new/%24(id)": "", "/sub/api/v1/repos/new": ""} {
		driver := answering(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusTemporaryRedirect)
		})
		_, err := driver.Repository(t.Context())
		var f *forge.Failure
		if !errors.As(err, &f) || f.Kind != forge.Refused || !strings.HasSuffix(f.Moved, want) || (f.Moved == "") != (want == "") {
			t.Errorf("%s: %+v", to, f)
		}
	}
}

// Gitea ignores the names of labels and milestones that it doesn't know, and lists every issue.
func TestAnUnknownNameFindsNoIssue(t *testing.T) {
	t.Parallel()
	driver := answering(t, func(w http.ResponseWriter, r *http.Request) {
		who := r.URL.Query().Get("assigned_by") + r.URL.Query().Get("created_by")
		if who == "nobody" || strings.HasSuffix(r.URL.Path, "/users/nobody") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = fmt.Fprint(w, `[{"number": 2, "labels": [{"name": "bug"}, {"name": "P1"}], "milestone": {"id": 7, "title": "1.0"}}, {"number": 1, "labels": [{"name": "bug"}]}]`)
	})
	for name, c := range map[string]struct {
		query forge.Query
		want  int
	}{
		"no label":         {forge.Query{Labels: []string{"nope"}}, 0},
		"one of two":       {forge.Query{Labels: []string{"bug", "nope"}}, 0},
		"a label":          {forge.Query{Labels: []string{"Bug"}}, 2},
		"two labels":       {forge.Query{Labels: []string{"bug", "P1"}}, 1},
		"no milestone":     {forge.Query{Milestone: "nope"}, 0},
		"a milestone":      {forge.Query{Milestone: "1.0"}, 1},
		"a milestone's id": {forge.Query{Milestone: "7"}, 1},
	} {
		if got, err := driver.Issues(t.Context(), c.query, 10); err != nil || len(got) != c.want {
			t.Errorf("%s: %d issues, %v, want %d", name, len(got), err, c.want)
		}
	}
	for _, query := range []forge.Query{{Assignee: "nobody"}, {Author: "nobody"}} {
		if _, err := driver.Issues(t.Context(), query, 10); !errors.Is(err, forge.ErrNotFound) || !strings.Contains(err.Error(), `no account "nobody"`) {
			t.Errorf("%+v: %v", query, err)
		}
	}
}

func TestNoVerdictOfAnotherCommitCounts(t *testing.T) {
	t.Parallel()
	one, other := strings.Repeat("a", 40), strings.Repeat("b", 40)
	driver := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"sha":%q,"total_count":1,"statuses":[{"status":"success","context":"ci"}]}`, one)
	})
	if verdicts, err := driver.Verdicts(t.Context(), one); err != nil || len(verdicts) != 1 || verdicts[0].State != forge.Passed {
		t.Errorf("verdicts are %+v, %v", verdicts, err)
	}
	for _, commit := range []string{other, "main", one[:39]} {
		if verdicts, err := driver.Verdicts(t.Context(), commit); err == nil {
			t.Errorf("verdicts on %s are %+v", commit, verdicts)
		}
	}
}
