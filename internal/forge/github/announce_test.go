package github_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/forgetest"
	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/forge/hostedtest"
	"signalbox/internal/forge/standin"
)

// announcing is a run that is announced on a stand-in.
type announcing struct {
	*githubtest.Server
	forge.Announcer
	forgetest.Harness
	forge forge.Forge
}

func startAnnouncing(t *testing.T) *announcing {
	t.Helper()
	s := githubtest.New(t)
	s.Issue("Fix it", "Please.", "bug", string(forge.LabelFailed))
	server := hostedtest.Server{URL: s.URL, Remote: s.Repository, Token: "ghp_ada", Inject: s.Inject, Issue: "1"}
	a := &announcing{Server: s, Harness: hostedtest.Harness(t, driverAt, server, hosted.Exact, 1)}
	a.restart(t)
	return a
}

// restart opens the forge as another process does.
func (a *announcing) restart(t *testing.T) {
	t.Helper()
	a.forge = a.Open(t)
	a.Announcer = a.forge.(forge.Announcer)
}

// calls are those that were paid for since the last look, by kind.
func (a *announcing) calls() map[string]int {
	counted := map[string]int{}
	for _, r := range a.Requests() {
		if method, path, _ := strings.Cut(r.Line, " "); r.Status != http.StatusNotModified && !strings.Contains(path, ".git/") {
			counted[fmt.Sprint(method, " ", kindOf(path))]++
		}
	}
	return counted
}

// kindOf is a path with stars for what differs.
func kindOf(path string) string {
	_, path, _ = strings.Cut(path, "/api/")
	path = strings.TrimPrefix(path, "v3/repos/"+githubtest.Owner+"/"+githubtest.Name+"/")
	path, _, _ = strings.Cut(path, "?")
	var parts []string
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if strings.Trim(part, "0123456789abcdef") == "" || strings.HasPrefix(part, "signalbox") {
			part = "*"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "/")
}

func (a *announcing) says(t *testing.T, said forge.Announcement) {
	t.Helper()
	ok(t, a.Announce(t.Context(), a.Request, said))
}

// labels are the issue's.
func (a *announcing) labels() (labels []string) {
	a.With(func(st *githubtest.State) { labels = slices.Clone(st.Issues[1].Labels) })
	return labels
}

// comment returns the one comment that contains a text.
func (a *announcing) comment(t *testing.T, contains string) (found githubtest.Comment) {
	t.Helper()
	n := 0
	a.With(func(st *githubtest.State) {
		for _, c := range st.Comments {
			if strings.Contains(c.Body, contains) {
				found, n = *c, n+1
			}
		}
	})
	if n != 1 {
		t.Errorf("%d comments contain %q", n, contains)
	}
	return found
}

// A whole run is announced by few calls, in two processes here.
func TestARunIsAnnouncedByFewCalls(t *testing.T) {
	t.Parallel()
	a := startAnnouncing(t)
	_ = a.calls()
	working := forge.Announcement{Run: "run-1", Progress: "**Running** · fixes #12, says @octocat\n<!-- x", Data: `{"a":"-->","b":"x--y"}`, Label: forge.LabelRunning}
	a.says(t, working)
	a.says(t, working)
	waiting := forge.Announcement{Run: "run-1", Progress: "**Needs input**", Data: "{}", Label: forge.LabelNeedsInput, Call: &forge.PersonCall{Key: "signalbox/call/1", Body: "It needs you, @octocat."}}
	a.says(t, waiting)
	a.restart(t)
	a.says(t, waiting)
	if c := a.comment(t, "It needs you"); c.Minimized || strings.Contains(c.Body, "@octocat") {
		t.Errorf("the call is %+v", c)
	}
	change := forge.PullRequest{Key: "run-1", Request: "1", Title: "Change", Branch: "signalbox/1-a", Base: "main", Head: committed(t, a.Project)}
	pr := must(a.forge.OpenPullRequest(t.Context(), change))(t)
	opened := forge.Announcement{Run: "run-1", Progress: "**Running**", Data: "{}", Label: forge.LabelRunning, Pull: pr.Number, Head: change.Head, Verdicts: []forge.Verdict{
		{Name: forge.VerdictTests, State: forge.Pending, Summary: "testing"}, {Name: forge.VerdictReview, State: forge.Passed, Summary: "passed"}}}
	a.says(t, opened)
	if c := a.comment(t, "It needs you"); !c.Minimized {
		t.Error("the answered call is not hidden")
	}
	unpushed := opened
	unpushed.Head = strings.Repeat("0", 40)
	a.says(t, unpushed)
	opened.Progress, opened.Label, opened.Verdicts[0] = "**Done**", forge.LabelDone, forge.Verdict{Name: forge.VerdictTests, State: forge.Passed, Summary: "passed"}
	a.says(t, opened)
	a.restart(t)
	a.says(t, opened)

	if labels := a.labels(); !slices.Equal(labels, []string{"bug", string(forge.LabelDone)}) {
		t.Errorf("the labels are %q", labels)
	}
	a.With(func(st *githubtest.State) {
		if len(st.Statuses) != 3 || st.Statuses[2].State != "success" || st.Statuses[2].Context != forge.VerdictTests || st.Statuses[0].Page != pr.URL || len(st.Comments) != 2 {
			t.Errorf("the statuses are %+v, and there are %d comments", st.Statuses, len(st.Comments))
		}
	})
	want := map[string]int{"POST issues/*/comments": 2, "PATCH issues/comments/*": 3, "POST issues/*/labels": 4, "DELETE issues/*/labels/*": 4, "POST statuses/*": 3,
		"POST graphql": 2, "GET issues/*/comments": 2, "GET issues/*": 4, "GET issues/comments/*": 1, "GET v3/repos/octo-org/engine": 1, "GET pulls": 1, "POST pulls": 1}
	if got := a.calls(); !maps.Equal(got, want) {
		t.Errorf("the calls are %v, want %v", got, want)
	}
}

func TestTheProgressCommentHasAPartForProgramsThatNothingEnds(t *testing.T) {
	t.Parallel()
	a := startAnnouncing(t)
	a.says(t, forge.Announcement{Run: "run-1", Progress: "**Running** · fixes #12, says @octocat\n<!-- x" + strings.Repeat("ä", 50_000), Data: `{"a":"-->","b":"x--y"}`})
	lines := strings.Split(a.comment(t, "**Running**").Body, "\n")
	body := strings.Join(lines, "\n")
	if lines[1] != `<!-- signalbox:data {"a":"-\u002d\u003e","b":"x-\u002dy"} -->` || !strings.HasPrefix(lines[2], "**Running**") || strings.Contains(body, "@octocat") ||
		strings.Contains(body, "fixes #12") || strings.Count(body, "<!--") != 2 || len(body) > 65_536 || !strings.HasSuffix(body, "(too long for the forge: the rest is left out)\n") {
		t.Errorf("the comment is %d bytes: %.300s", len(body), body)
	}
}

func TestACommentThatAPersonDeletedComesBackAndACallDoesNot(t *testing.T) {
	t.Parallel()
	a := startAnnouncing(t)
	said := forge.Announcement{Run: "run-1", Progress: "one", Data: "{}", Call: &forge.PersonCall{Key: "signalbox/call/1", Body: "It needs you."}}
	a.says(t, said)
	a.With(func(st *githubtest.State) { st.Comments = nil })
	said.Progress, said.Call = "two", &forge.PersonCall{Key: said.Call.Key, Body: "It needs you, still."}
	a.says(t, said)
	a.comment(t, "two")
	said.Call, said.Progress = nil, "three"
	a.says(t, said)
	a.comment(t, "three")
	a.With(func(st *githubtest.State) {
		if len(st.Comments) != 1 {
			t.Errorf("there are %d comments", len(st.Comments))
		}
	})
}

// What the server refuses for good is not asked again, and the rest is announced.
func TestWhatTheServerRefusesIsLeftOut(t *testing.T) {
	t.Parallel()
	a := startAnnouncing(t)
	refused := a.Inject(standin.Fault{Method: "POST", Path: "/labels", Status: 403, Body: `{"message":"Resource not accessible by personal access token"}`, Times: -1})
	_ = a.calls()
	for _, progress := range []string{"one", "two"} {
		a.says(t, forge.Announcement{Run: "run-1", Progress: progress, Data: "{}", Label: forge.LabelRunning})
	}
	a.comment(t, "two")
	if calls := a.calls(); !refused() || calls["POST issues/*/labels"] != 1 {
		t.Errorf("it was asked %v", calls)
	}
	limited := a.Inject(standin.Fault{Changes: true, Status: 429, Header: map[string][]string{"Retry-After": {"60"}}, Body: `{"message":"slow down"}`, Times: -1})
	_ = a.calls()
	err := a.Announce(t.Context(), a.Request, forge.Announcement{Run: "run-1", Progress: "three", Data: "{}", Label: forge.LabelDone})
	wantFailure(t, err, forge.Failure{Kind: forge.Limited, Status: 429, RetryAfter: 60e9})
	if calls := a.calls(); !limited() || len(calls) != 1 {
		t.Errorf("with a limit it calls %v", calls)
	}
}

func TestOurOwnStatusIsNoCheckOfTheForge(t *testing.T) {
	t.Parallel()
	a := startAnnouncing(t)
	change := forge.PullRequest{Key: "run-1", Request: "1", Title: "Change", Branch: "signalbox/1-a", Base: "main", Head: committed(t, a.Project)}
	pr := must(a.forge.OpenPullRequest(t.Context(), change))(t)
	a.says(t, forge.Announcement{Run: "run-1", Progress: "x", Data: "{}", Pull: pr.Number, Head: change.Head, Verdicts: []forge.Verdict{{Name: forge.VerdictTests, State: forge.Failed}}})
	a.With(func(st *githubtest.State) {
		if len(st.Statuses) != 1 || st.Statuses[0].State != "failure" {
			t.Errorf("the statuses are %+v", st.Statuses)
		}
	})
	if check := must(a.forge.Checks(t.Context(), pr.Number))(t); check.State != forge.CheckPassed {
		t.Errorf("our own status is taken for %+v", check)
	}
}
