package github_test

import (
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/forge/hostedtest"
)

// Whoever approves without naming a commit means what they saw. What a comment shows now, it may not have shown then.
func TestOnlyAnUneditedCommentOfOursOffersACommit(t *testing.T) {
	t.Parallel()
	const commit = "0123456789abcdef0123456789abcdef01234567"
	ours := "<!-- signalbox:comment=stop -->\nThe change is ready: " + commit[:10]
	for _, c := range []struct {
		name, author, body   string
		edited, after, offer bool
	}{
		{name: "ours", author: "ada", body: ours, offer: true},
		{name: "edited since", author: "ada", body: ours, edited: true},
		{name: "written after the order", author: "ada", body: ours, after: true},
		{name: "a stranger's", author: "mallory", body: ours},
		{name: "a person's with our account", author: "ada", body: "look at " + commit},
	} {
		s := githubtest.New(t)
		number := s.Issue("Fix it", "Please.")
		f, ok := hostedtest.Harness(t, driverAt, hostedtest.Server{URL: s.URL, Remote: s.Repository, Token: "ghp_ada", Inject: s.Inject, Issue: "1"}, hosted.Exact, 1).Open(t).(*hosted.Forge)
		if !ok {
			t.Fatal("it is another forge")
		}
		var order int64
		if c.after {
			order = s.Comment(number, "grace", "/signalbox approve")
		}
		shown := s.Comment(number, c.author, c.body)
		if !c.after {
			order = s.Comment(number, "grace", "/signalbox approve")
		}
		s.With(func(st *githubtest.State) {
			for _, comment := range st.Comments {
				if comment.ID == shown && c.edited {
					comment.Updated = comment.Updated.Add(time.Second)
				}
			}
		})
		got := must(f.Offered(t.Context(), forge.Order{On: forge.OnIssue(number), Remark: forge.Remark{ID: order}}, commit))(t)
		if got != c.offer {
			t.Errorf("%s: it offers the commit: %t", c.name, got)
		}
	}
}
