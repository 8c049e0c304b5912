package cli_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// forgeToken has no form by which it could be known.
const forgeToken = "mellon-friend-of-ada-42"

// hub is a project whose issues and pull requests are on a stand-in for GitHub. The API takes forgeToken, git another account's token.
type hub struct {
	*project
	*githubtest.Server
	env []string
}

func newHub(t *testing.T, config string) *hub {
	t.Helper()
	h := &hub{&project{t, projectDir(t)}, githubtest.New(t), nil}
	h.With(func(st *githubtest.State) {
		st.Tokens[forgeToken] = githubtest.Person
		now := st.Now
		for n := range 41 { // the stand-in counts what there is
			st.Issues[n+1] = &githubtest.Issue{Title: "Settled", Closed: true, Created: now, Updated: now}
		}
		st.Issues[42] = &githubtest.Issue{Title: "Greet the world", Body: "greeting.txt says hello world. @everyone", Author: "mallory", Labels: []string{"bug"}, Created: now, Updated: now}
	})
	h.Commit("main", map[string]string{"greeting.txt": "hello\n", "agent.sh": agentOfForge,
		".signalbox/config.yaml": "forge: {driver: github, token: ENTRY_WORD}\nworkflow: simple\napprove: auto\ntests: [grep -q hello greeting.txt]\n" +
			"roles: {planner: none, reviewer: none, repairer: none}\nagents: {shell: {driver: command, command: [sh, ./agent.sh]}}\n" + config,
		"requests/own.md": "---\nid: RQ-20260101-007\nnumber: 7\ntitle: Only here\n---\n\nSomething.\n"})
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[credential]\nhelper = \"!f() { echo username=grace; echo password=ghp_grace; }; f\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = append([]string{"HOME=" + home, "ENTRY_WORD=" + forgeToken, "GITHUB_TOKEN=ghp_ada"}, ada...)
	h.git("--git-dir", h.Repository, "config", "http.receivepack", "true")
	h.gitWith([]string{"HOME=" + home}, "clone", "--quiet", h.Remote(), ".")
	return h
}

const agentOfForge = "cat >/dev/null\nenv\necho hello world >greeting.txt\n"

// by runs signalbox as ada to its end, which must be the exit code wanted.
func (h *hub) by(want int, args ...string) string {
	h.Helper()
	c := h.startWith(h.env, args...)
	if got := c.wait(); got != want {
		h.Fatalf("signalbox %v: exit code %d, want %d\n%s", args, got, want, c.out)
	}
	return c.out.String()
}

// nowhere wants a text in no file of the project.
func (h *hub) nowhere(secret string) {
	h.Helper()
	err := filepath.WalkDir(h.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrPermission) {
			return nil
		}
		if bytes.Contains(text, []byte(secret)) {
			h.Errorf("%s has %q", path, secret)
		}
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
}

// wake leaves the order to look at the forge, as a webhook does.
func (h *hub) wake(run *workflow.Run) {
	h.Helper()
	s, err := store.Open(context.Background(), store.Config{Root: h.dir})
	if err != nil {
		h.Fatal(err)
	}
	err = s.Signal(context.Background(), workflow.RefOf(run), func(signals *workflow.Signals) error {
		signals.Commands = append(signals.Commands, workflow.Command{ID: "wake-1", Kind: workflow.CommandWake, By: "webhook", At: time.Now().UTC()})
		return nil
	})
	if err = errors.Join(err, s.Close()); err != nil {
		h.Fatal(err)
	}
}

// An issue is carried to its merged pull request: the checks of the forge are waited for, the tested merge commit is pushed, and the issue closed.
func TestAnIssueOfAForgeIsCarriedToItsMergedPullRequest(t *testing.T) {
	t.Parallel()
	h := newHub(t, "")
	asked, answer := make(chan struct{}), make(chan struct{})
	h.Inject(githubtest.Fault{Method: "GET", Path: "/status", Arrived: asked, Wait: answer})
	c := h.startWith(h.env, "-v", "run", "42")
	select {
	case <-asked:
	case <-c.done:
		t.Fatalf("it ended before it asked for checks:\n%s", c.out)
	}
	var head string
	h.With(func(st *githubtest.State) {
		for _, pull := range st.Pulls {
			head = h.Head(pull.Branch)
		}
		st.Statuses = append(st.Statuses, &githubtest.Status{ID: 1, Commit: head, Context: "ci", State: "pending", At: st.Now})
	})
	close(answer)
	var run workflow.Run
	waits := until(t, h.dir, c.done, func() bool {
		run = h.stages()["42"]
		return run.Details.Used.ChecksSince != nil
	})
	if !waits || head == "" {
		t.Fatalf("it did not wait for the check on %q:\n%s", head, c.out)
	}
	h.With(func(st *githubtest.State) {
		st.Statuses = append(st.Statuses, &githubtest.Status{ID: 2, Commit: head, Context: "ci", State: "success", At: st.Now.Add(time.Second)})
	})
	h.wake(&run)
	if code := c.wait(); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, c.out)
	}
	h.isMerged(42, head)
	for _, secret := range []string{forgeToken, "ghp_ada"} {
		h.nowhere(secret)
		if strings.Contains(c.out.String(), secret) {
			t.Errorf("it printed %s", secret)
		}
	}
	if log := h.agentLog(); !strings.Contains(log, "SIGNALBOX_ISSUE=42") || strings.Contains(log, "ENTRY_WORD") || strings.Contains(log, "GITHUB_TOKEN") {
		t.Errorf("the agent's variables are\n%s", log)
	}
}

// isMerged wants one merged or closed pull request of the issue, its change on main, and the issue closed.
func (h *hub) isMerged(issue int, head string) {
	h.Helper()
	h.With(func(st *githubtest.State) {
		if len(st.Pulls) != 1 || !st.Issues[issue].Closed {
			h.Errorf("there are %d pull requests, and the issue is closed: %t", len(st.Pulls), st.Issues[issue].Closed)
		}
		for _, pull := range st.Pulls {
			if !pull.Closed || strings.Contains(pull.Body, "@everyone") {
				h.Errorf("the pull request is %+v", pull)
			}
		}
	})
	h.git("fetch", "--quiet", h.Repository, "main")
	h.git("merge-base", "--is-ancestor", head, "FETCH_HEAD")
	if text := h.git("show", "FETCH_HEAD:greeting.txt"); text != "hello world" {
		h.Errorf("main has %q", text)
	}
}

// agentLog is what the agent printed.
func (h *hub) agentLog() string {
	h.Helper()
	var all strings.Builder
	logs, err := filepath.Glob(filepath.Join(h.dir, "runs", "*", "*", "logs", "*"))
	if err != nil {
		h.Fatal(err)
	}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			h.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

func TestIssuesOfAForgeAreListedAndNamed(t *testing.T) {
	t.Parallel()
	h := newHub(t, "")
	h.With(func(st *githubtest.State) {
		st.Issues[7] = &githubtest.Issue{Title: "Hidden \u202eeman\x1b[31m", Author: "mallory", Assignee: "ada", Created: st.Now, Updated: st.Now}
	})
	for _, c := range []struct {
		args, says, not string
		code            int
	}{
		{args: "list", says: "Only here", not: "Greet the world"},
		{args: "list --forge", says: "Greet the world  bug", not: "Only here"},
		{args: "list --forge --label bug", says: "#42", not: "Hidden"},
		{args: "list --forge --assignee ada --json", says: `"number": 7`, not: "\x1b"},
		{args: "list --label bug", says: "signalbox list --forge --label", code: 2},
		{args: "run 7", says: "RQ-20260101-007; or the issue: " + h.URL + "/octo-org/engine/issues/7", code: 2},
		{args: "session start 7 --headless", says: "name the file: RQ-20260101-007", code: 2},
		{args: "run 43", says: `there is no issue "43"`, code: 6},
		{args: "run https://github.com/octo-org/engine/issues/42", says: "it is not an issue of this project's repository", code: 6},
		{args: "run " + h.URL + "/octo-org/other/issues/42", says: "want " + h.URL + "/octo-org/engine/issues/NUMBER", code: 6},
		{args: "run " + h.URL + "/octo-org/engine/pull/42", says: "it is not an issue of this project's repository", code: 6},
		{args: "status " + h.URL + "/octo-org/Engine/issues/42#comment", says: "there is no run of", code: 6},
		{args: "__complete run 4", says: "42\tGreet the world (new)"},
	} {
		if out := h.by(c.code, strings.Fields(c.args)...); !strings.Contains(out, c.says) || c.not != "" && strings.Contains(out, c.not) {
			t.Errorf("signalbox %s printed, without %q:\n%s", c.args, c.says, out)
		}
	}
}

// Whatever the forge refuses, the user is told what to type, and no run begins.
func TestWhatAForgeRefusesSaysWhatToType(t *testing.T) {
	t.Parallel()
	h := newHub(t, "")
	for _, c := range []struct {
		fault githubtest.Fault
		env   []string
		says  []string
	}{
		{env: []string{"ENTRY_WORD="}, says: []string{"ENTRY_WORD is not set", "set ENTRY_WORD where you start Signalbox"}},
		{env: []string{"ENTRY_WORD=expired-entry-word"}, says: []string{"Bad credentials", "start Signalbox with it in ENTRY_WORD"}},
		{fault: githubtest.Fault{Path: "/issues/42", Status: 403, Body: `{"message":"Resource not accessible by personal access token"}`},
			says: []string{"Issues: read", "docs/forges.md"}},
		{fault: githubtest.Fault{Path: "/issues/42", Status: 429, Header: map[string][]string{"Retry-After": {"600"}}, Body: `{"message":"slow down"}`},
			says: []string{"too many calls: try again after "}},
		{fault: githubtest.Fault{Path: "/issues/42", Status: 502, Body: "<html>"}, says: []string{"signalbox doctor"}},
	} {
		if c.fault.Status != 0 {
			h.Inject(c.fault)
		}
		run := h.startWith(append(h.env, c.env...), "run", "42")
		code, out := run.wait(), run.out.String()
		for _, says := range c.says {
			if code != 1 || !strings.Contains(out, says) || strings.Contains(out, "expired-entry-word") {
				t.Errorf("exit code %d, and without %q:\n%s", code, says, out)
			}
		}
	}
	if len(h.stages()) > 0 {
		t.Error("a run began")
	}
}
