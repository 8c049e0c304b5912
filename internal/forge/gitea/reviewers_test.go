package gitea_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"signalbox/internal/forge/gitea/giteatest"
	"signalbox/internal/forge/hosted"
)

// Gitea asks owners itself, and Signalbox those of the configuration. Whom neither may ask stops nothing.
func TestReviewersAreAskedAndOwnersNamed(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *hosted.Config) { c.Reviewers = []string{"org/none", giteatest.Boss} })
	owner := "owner-" + s.Name
	if _, err := server.User(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	s.call(t, http.MethodPost, "/contents/CODEOWNERS", map[string]any{"content": base64.StdEncoding.EncodeToString([]byte("docs/.* @" + giteatest.Boss + "\n!docs/.* @" + owner + "\n")),
		"message": "Name owners", "branch": "main"}, nil)
	runGit(t, s.project, "pull", "--quiet", "origin", "main")
	change := s.change(t, "run-1")
	runGit(t, s.project, "rm", "--quiet", "README.md")
	change.Head = runGit(t, s.project, "commit-tree", runGit(t, s.project, "write-tree"), "-p", "main", "-m", "Without README")
	runGit(t, s.project, "reset", "--quiet", "--hard")
	pr := s.open(t, change)
	var shown struct {
		Body      string
		Reviewers []struct{ Login string } `json:"requested_reviewers"`
	}
	s.call(t, http.MethodGet, fmt.Sprintf("/pulls/%d", pr.Number), nil, &shown)
	var asked []string
	for _, r := range shown.Reviewers {
		asked = append(asked, r.Login)
	}
	if !strings.Contains(strings.Join(asked, " "), giteatest.Boss) || !strings.Contains(shown.Body, "(CODEOWNERS): `"+owner+"`.") {
		t.Errorf("asked are %q, and it says %q", asked, shown.Body)
	}
}
