package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge/gitlab/gitlabtest"
	"signalbox/internal/workflow"
)

// newLab makes a project on a stand-in for GitLab whose pages are below a path.
func newLab(t *testing.T) (*hub, *gitlabtest.Server) {
	t.Helper()
	s := gitlabtest.NewBelow(t, "/code")
	h := &hub{project: &project{t, projectDir(t)}}
	s.With(func(st *gitlabtest.State) { st.Tokens[forgeToken] = gitlabtest.Person })
	s.Commit("main", map[string]string{"greeting.txt": "hello\n", "agent.sh": agentOfForge, ".signalbox/config.yaml": "forge: {driver: gitlab, url: " + s.URL + ", ci: none, labels: true}\n" +
		"workflow: simple\napprove: auto\ntests: [grep -q hello greeting.txt]\nroles: {planner: none, reviewer: none, repairer: none}\nagents: {shell: {driver: command, command: [sh, ./agent.sh]}}\n"})
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[credential]\nhelper = \"!f() { echo username=grace; echo password=glpat-grace; }; f\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = append([]string{"HOME=" + home, "GITLAB_TOKEN=" + forgeToken}, ada...)
	h.git("--git-dir", s.Repository, "config", "http.receivepack", "true")
	h.gitWith([]string{"HOME=" + home}, "clone", "--quiet", s.Remote(), ".")
	return h, s
}

// An issue of GitLab is carried to its merged merge request, which has the issue's number. Doctor says who we are there.
func TestAnIssueOfGitLabIsCarriedToItsMergedMergeRequest(t *testing.T) {
	t.Parallel()
	h, s := newLab(t)
	number := s.Issue("Greet the world", "greeting.txt says hello world. @everyone, see !1", "bug")
	if said := h.by(0, "doctor"); !strings.Contains(said, gitlabtest.Person) || !strings.Contains(said, s.URL+"/"+gitlabtest.Path) {
		t.Errorf("doctor says\n%s", said)
	}
	said := h.by(0, "run", "1")
	s.With(func(st *gitlabtest.State) {
		m := st.Merges[1]
		if len(st.Merges) != 1 || m.State != "merged" || m.Merge != s.Head("main") || strings.Contains(m.Body, "@everyone") || !st.Issues[number].Closed {
			t.Errorf("the merge request is %+v, and the issue closed: %t\n%s", m, st.Issues[number].Closed, said)
		}
		for _, n := range st.Notes {
			if n.Pull || strings.Contains(n.Body, "@everyone") {
				t.Errorf("there is the note %+v", n)
			}
		}
	})
	h.nowhere(forgeToken)
	if strings.Contains(said, forgeToken) || strings.Contains(h.agentLog(), "GITLAB_TOKEN") {
		t.Error("the token was shown")
	}
}

// People order on GitLab by the label and by comments, and each order is obeyed once.
func TestPeopleGiveOrdersOnGitLab(t *testing.T) {
	t.Parallel()
	h, s := newLab(t)
	s.With(func(st *gitlabtest.State) { st.Now = time.Now().UTC() })
	labelled := s.Issue("Greet the world", "greeting.txt says hello world", "bug")
	h.by(0, "forge", "watch", "--once")
	s.Label(labelled, "ada", "add", "signalbox")
	s.Note(labelled, "mallory", "/signalbox stop")
	out := h.by(0, "forge", "watch", "--once")
	for _, says := range []string{"issue 1: run by ada", "issue 1: stop by mallory: refused: no write access", "#1 Done"} {
		if !strings.Contains(out, says) {
			t.Errorf("it printed, without %q:\n%s", says, out)
		}
	}
	if runs := h.stages(); len(runs) != 1 || runs["1"].State != workflow.Done {
		t.Fatalf("the runs are %+v", runs)
	}
	if out := h.by(0, "forge", "watch", "--once"); strings.Contains(out, "by ada") {
		t.Errorf("an order is obeyed again:\n%s", out)
	}
	s.With(func(st *gitlabtest.State) {
		if len(st.Merges) != 1 || st.Merges[1].State != "merged" || !st.Issues[labelled].Closed {
			t.Errorf("GitLab has %+v", st.Merges)
		}
	})
}
