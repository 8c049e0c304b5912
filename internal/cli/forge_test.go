package cli_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// newHub makes one; more are further keys of forge.
func newHub(t *testing.T, more string) *hub {
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
		".signalbox/config.yaml": "forge: {driver: github, token: ENTRY_WORD" + more + "}\nworkflow: simple\napprove: auto\ntests: [grep -q hello greeting.txt]\n" +
			"roles: {planner: none, reviewer: none, repairer: none}\nagents: {shell: {driver: command, command: [sh, ./agent.sh]}}\n",
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

// agentOfForge does what the issue says, and what a reviewer called grace asks for.
const agentOfForge = "asked=$(cat)\nenv\ncase $asked in *grace:*louder*) echo hello WORLD;; *mallory*token*) echo hello mallory;; *) echo hello world;; esac >greeting.txt\n"

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
	h := newHub(t, ", statuses: true, labels: true, language: ja")
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
	h.isAnnounced(42, head)
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

// isAnnounced wants one progress comment, one label, and our verdicts on the head, which were no checks of the forge.
func (h *hub) isAnnounced(issue int, head string) {
	h.Helper()
	h.With(func(st *githubtest.State) {
		var progress []string
		for _, c := range st.Comments {
			if c.Number == issue && strings.Contains(c.Body, "<!-- signalbox:data {") {
				progress = append(progress, c.Body)
			}
		}
		if len(progress) != 1 || !strings.Contains(progress[0], `"state":"DONE"`) || !strings.Contains(progress[0], "\n**完了** · 対応は不要です\n") {
			h.Errorf("the progress is told as %q", progress)
		}
		if labels := st.Issues[issue].Labels; !slices.Equal(labels, []string{"bug", "signalbox:done"}) {
			h.Errorf("the labels are %q", labels)
		}
		last := map[string]string{}
		for _, s := range st.Statuses {
			if last[s.Context] = s.State; s.Commit != head {
				h.Errorf("%s is on %s", s.Context, s.Commit)
			}
		}
		if len(last) != 4 || last["signalbox/tests"] != "success" || last["signalbox/review"] != "success" || last["signalbox/approval"] != "success" {
			h.Errorf("the statuses are %v", last)
		}
	})
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
		{args: "run " + h.URL + "/octo-org/engine/pull/42", says: "it is a pull request, and an issue is wanted", code: 6},
		{args: "status " + h.URL + "/octo-org/Engine/issues/42#comment", says: "there is no run of", code: 6},
		{args: "__complete run 4", says: "42\tGreet the world (new)"},
		{args: "forge limits", says: " of 5000 calls left until "},
		{args: "forge limits --all", says: "  paid calls\n", not: "ghp_"},
		{args: "forge limits --json", says: `"remaining": `, not: "ghp_"},
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
		{fault: githubtest.Fault{Path: "/issues/42", Status: 502, Body: "<html>"}, says: []string{"signalbox doctor"}},
		{fault: githubtest.Fault{Path: "/issues/42", Status: 429, Header: map[string][]string{"Retry-After": {"600"}}, Body: `{"message":"slow down"}`},
			says: []string{"too many calls: try again after "}},
		{says: []string{"no call is sent now", "asked for a pause", "too many calls: try again after "}}, // another process
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

func TestDoctorSaysHowItStandsWithTheForge(t *testing.T) {
	t.Parallel()
	h := newHub(t, "")
	h.wants(0, nil, h.URL+"/octo-org/engine as ada, by the token in ENTRY_WORD", "into main by exact: the account may push to the branch")
	h.With(func(st *githubtest.State) {
		st.Rules["main"] = []map[string]any{{"type": "pull_request", "parameters": map[string]any{"required_approving_review_count": 1,
			"allowed_merge_methods": []string{"merge"}, "dismiss_stale_reviews_on_push": false, "require_code_owner_review": false,
			"require_last_push_approval": false, "required_review_thread_resolution": false}}}
	})
	h.wants(0, nil, "into main by guarded: the branch is protected against pushes")
	h.wants(1, []string{"ENTRY_WORD=ghp_mallory"}, "the account may not push to octo-org/engine", "Contents: read and write")
	h.Fork("mallory", "locomotive")
	h.wants(1, []string{"ENTRY_WORD=ghp_mallory"}, "branches to mallory/locomotive", "into main by others: ", "to "+h.URL+"/mallory/locomotive.git: git push: ") // git has ada's password
	h.wants(1, []string{"ENTRY_WORD=expired-entry-word"}, "Bad credentials", "start Signalbox with it in ENTRY_WORD")
	h.wants(1, []string{"ENTRY_WORD="}, "ENTRY_WORD is not set")
	h.git("remote", "set-url", "origin", "https://ada:hunter2-and-more@127.0.0.1:1/octo-org/engine")
	h.wants(1, nil, "https://127.0.0.1:1/octo-org/engine: ", "signalbox doctor")
	h.git("remote", "set-url", "origin", "/srv/git/engine.git")
	h.wants(1, nil, "names no repository on a server", "set url and repository below forge")
}

// wants has doctor end with an exit code and say something.
func (h *hub) wants(code int, env []string, says ...string) {
	h.Helper()
	c := h.startWith(append(h.env, env...), "doctor")
	got := c.wait()
	for _, text := range says {
		if out := c.out.String(); got != code || !strings.Contains(out, text) || strings.Contains(out, "hunter2") {
			h.Errorf("exit code %d, want %d; without %q, or with a password:\n%s", got, code, text, out)
		}
	}
}

// A token that ends in mid-run stops the run with what to renew, a server that asks to wait does not, and the run goes on where it was: with one
// agent's call, one pull request and one merge.
func TestARunGoesOnWhereAForgeRefusedIt(t *testing.T) {
	t.Parallel()
	h := newHub(t, ", ci: none, labels: true")
	h.Inject(githubtest.Fault{Method: "POST", Path: "/pulls", Status: 401, Body: `{"message":"Bad credentials"}`})
	out := h.by(3, "run", "42")
	for _, says := range []string{"FORGE_UNAUTHORIZED", "start Signalbox with it in ENTRY_WORD", "signalbox resume 42"} {
		if !strings.Contains(out, says) {
			t.Errorf("without %q:\n%s", says, out)
		}
	}
	h.calledForAPerson("`FORGE_UNAUTHORIZED`", false, "signalbox:needs-input")
	h.Inject(githubtest.Fault{Method: "POST", Path: "/pulls", Status: 429, Header: map[string][]string{"Retry-After": {"1"}}, Body: `{"message":"slow down"}`})
	if out := h.by(0, "resume", "42"); !strings.Contains(out, "too many calls") {
		t.Errorf("it does not say that it waits:\n%s", out)
	}
	h.isMerged(42, h.stages()["42"].Details.Head)
	h.calledForAPerson("`FORGE_UNAUTHORIZED`", true, "signalbox:done")
	if calls := strings.Count(h.agentLog(), "SIGNALBOX_ISSUE=42"); calls != 1 {
		t.Errorf("the agent was called %d times", calls)
	}
}

// calledForAPerson wants one comment on issue 42 that calls for a person because of reason, and the label of the run's state.
func (h *hub) calledForAPerson(reason string, answered bool, label string) {
	h.Helper()
	h.With(func(st *githubtest.State) {
		var calls []githubtest.Comment
		for _, c := range st.Comments {
			if strings.Contains(c.Body, "Signalbox needs you") {
				calls = append(calls, *c)
			}
		}
		if len(calls) != 1 || calls[0].Number != 42 || calls[0].Minimized != answered || !strings.Contains(calls[0].Body, reason) || !strings.Contains(calls[0].Body, "or comment `/signalbox resume`") {
			h.Errorf("people are called by %+v", calls)
		}
		if labels := st.Issues[42].Labels; !slices.Equal(labels, []string{"bug", label}) {
			h.Errorf("the labels are %q, want %s", labels, label)
		}
	})
}
