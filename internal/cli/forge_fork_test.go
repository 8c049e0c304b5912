package cli_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge/github"
	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/await"
)

// A contributor can't push to the repository: the change comes from their fork, which is made for it, and waits until a maintainer merges it.
func TestAContributorsRunWaitsForAMaintainer(t *testing.T) {
	t.Parallel()
	h := newHub(t, ", fork: create, ci: none")
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[credential]\nhelper = \"!f() { echo username=mallory; echo password=ghp_mallory; }; f\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "HOME="+home, "ENTRY_WORD=ghp_mallory")
	c := h.startWith(h.env, "run", "42")
	var run workflow.Run
	if !until(t, h.dir, c.done, func() bool {
		run = h.stages()["42"]
		return run.State == workflow.Queued && run.Details.ParkedUntil != nil
	}) {
		t.Fatalf("it did not wait for a maintainer:\n%s", c.out)
	}
	if out := h.by(0, "status", "42"); !strings.Contains(out, "ask a maintainer to merge the pull request on the forge: http") || strings.Contains(out, "approve") {
		t.Errorf("status says\n%s", out)
	}
	if a := run.Awaits(); a == nil || a.Kind != await.Merge || run.Details.Settings.PushesTo != "mallory/engine" {
		t.Errorf("it awaits %v, and pushes to %q", a, run.Details.Settings.PushesTo)
	}
	maintainer, err := github.New(github.Config{URL: h.URL, Owner: githubtest.Owner, Name: githubtest.Name, Client: http.DefaultClient, Now: time.Now,
		Token: func(context.Context) (string, error) { return "ghp_ada", nil }})
	if err == nil {
		err = maintainer.MergeProposal(t.Context(), run.Details.PullRequest.Number, run.Details.Head, "Merge it")
	}
	if err != nil {
		t.Fatal(err)
	}
	h.wake(&run)
	if code := c.wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, c.out)
	}
	h.With(func(st *githubtest.State) {
		fork, p := st.Forks["mallory"], st.Pulls[run.Details.PullRequest.Number]
		if fork == nil || fork.Git.Head(p.Branch) != "" || p.Owner != "mallory" || h.Head(p.Branch) != "" || h.Head("main") != p.Merge {
			t.Errorf("the fork is %+v, and the pull request %+v", fork, p)
		}
	})
}
