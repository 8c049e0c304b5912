package gitea_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/hosted"
)

func TestAPushedMergeShowsOnTheServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settings map[string]any
		state    forge.PullRequestState
		says     string
	}{
		"marked as merged where that is allowed":     {map[string]any{"has_pull_requests": true, "allow_manual_merge": true}, forge.Merged, ""},
		"noticed by the server itself":               {map[string]any{"has_pull_requests": true, "allow_manual_merge": true, "autodetect_manual_merge": true}, forge.Merged, ""},
		"closed with a remark where no other way is": {map[string]any{}, forge.Closed, "Merged as "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, func(c *hosted.Config) { c.Merge = hosted.Exact })
			s.call(t, http.MethodPatch, "", c.settings, nil)
			pr := s.open(t, s.change(t, "run-1"))
			check, err := s.forge.Checks(t.Context(), pr.Number)
			if err != nil {
				t.Fatal(err)
			}
			merged, err := s.forge.Merge(t.Context(), pr.Number, check, "m")
			if err != nil {
				t.Fatal(err)
			}
			driver, err := s.driver(nil)
			if err != nil {
				t.Fatal(err)
			}
			p, err := driver.Proposal(t.Context(), pr.Number)
			if err != nil || p.State != c.state || c.state == forge.Merged && p.MergeCommit != merged.MergeCommit {
				t.Errorf("it shows as %+v, %v", p, err)
			}
			if said := strings.Join(s.comments(t, pr.Number), "|"); c.says == "" && said != "" || !strings.HasPrefix(said, c.says) || c.says != "" && !strings.Contains(said, merged.MergeCommit) {
				t.Errorf("its comments are %q", said)
			}
			if left := runGit(t, s.project, "ls-remote", "origin", fmt.Sprintf("refs/heads/%s", pr.Branch)); left != "" {
				t.Errorf("its branch is left: %s", left)
			}
		})
	}
}
