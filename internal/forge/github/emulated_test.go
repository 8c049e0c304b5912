package github_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/github"
)

// emulator is GitHub as other people understand it: the package emulate of npm, which scripts/runners.sh installs.
type emulator struct {
	t   *testing.T
	url string
}

const emulated = `tokens:
  ghp_ada: {login: ada, scopes: [repo, user]}
  ghp_grace: {login: grace, scopes: [repo, user]}
  ghp_mallory: {login: mallory, scopes: [repo, user]}
github:
  users: [{login: ada}, {login: grace}, {login: mallory}]
  repos: [{owner: ada, name: engine, auto_init: true}]
`

func newEmulator(t *testing.T) *emulator {
	t.Helper()
	program := filepath.Join(os.Getenv("SIGNALBOX_RUNNERS"), "emulate")
	if _, err := os.Stat(program); os.Getenv("SIGNALBOX_RUNNERS") == "" || err != nil {
		t.Skip("emulate is missing: set SIGNALBOX_RUNNERS to the folder that scripts/runners.sh prints")
	}
	listener := must((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	port := listener.Addr().(*net.TCPAddr).Port
	ok(t, listener.Close())
	e := &emulator{t, fmt.Sprintf("http://127.0.0.1:%d", port)}
	seed := filepath.Join(t.TempDir(), "seed.yaml")
	ok(t, os.WriteFile(seed, []byte(emulated), 0o600))
	cmd := exec.CommandContext(t.Context(), program, "start", "--service", "github", "--port", fmt.Sprint(port), "--seed", seed, "--base-url", e.url+"/api/v3") //nolint:gosec // of the tests
	cmd.Dir, cmd.SysProcAttr = filepath.Dir(seed), &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	said := must(cmd.StdoutPipe())(t)
	ok(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Cancel()
		_ = cmd.Wait()
	})
	for text := ""; !strings.Contains(text, "Ready"); { // it says so when it listens
		buffer := make([]byte, 1000)
		n, err := said.Read(buffer)
		if text += string(buffer[:n]); err != nil {
			t.Fatalf("it printed %q: %v", text, err)
		}
	}
	return e
}

// lacks are the calls of the driver that the emulator does not know, and what the test answers for it. Each is asked first, so that the list stays true.
var lacks = map[string]string{
	"GET /repos/ada/engine/rules/branches/main": "[]",
	"GET /repos/ada/engine/commits/*/status":    `{"sha": "*", "state": "pending", "total_count": 0, "statuses": []}`,
	"POST /graphql":                             `{"data": {"viewer": {"login": "ada"}}}`,
}

// RoundTrip leads calls of GitHub Enterprise's API to the emulator, which has GitHub's.
func (e *emulator) RoundTrip(r *http.Request) (*http.Response, error) {
	path := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/api/v3"), "/api")
	call := r.Clone(r.Context())
	call.URL.Path, call.URL.RawPath = path, ""
	answer, err := http.DefaultTransport.RoundTrip(call)
	if err != nil {
		return nil, err
	}
	for pattern, body := range lacks {
		method, known, _ := strings.Cut(pattern, " ")
		before, after, any := strings.Cut(known, "*")
		asked, begins := strings.CutPrefix(path, before)
		asked, ends := strings.CutSuffix(asked, after)
		if r.Method != method || !begins || !ends || !any && asked != "" {
			continue
		}
		body = strings.Replace(body, "*", asked, 1)
		if _ = answer.Body.Close(); answer.StatusCode != http.StatusNotFound {
			e.t.Errorf("the emulator knows %s now: it answers %s", pattern, answer.Status)
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
	return answer, nil
}

// as calls the API below the repository, as a person does.
func (e *emulator) as(who, method, path string, in, out any) {
	e.t.Helper()
	body := must(json.Marshal(in))(e.t)
	r := must(http.NewRequestWithContext(e.t.Context(), method, e.url+"/repos/ada/engine"+path, bytes.NewReader(body)))(e.t)
	r.Header.Set("Authorization", "Bearer ghp_"+who)
	answer := must(http.DefaultClient.Do(r))(e.t)
	defer func() { _ = answer.Body.Close() }()
	text := must(io.ReadAll(answer.Body))(e.t)
	if answer.StatusCode/100 != 2 {
		e.t.Fatalf("%s %s: %s %s", method, path, answer.Status, text)
	}
	if out != nil {
		ok(e.t, json.Unmarshal(text, out))
	}
}

// An issue becomes a merged pull request on a GitHub that others wrote: what it answers to the driver was never seen by whoever wrote ours.
func TestAnIssueIsCarriedToItsMergeOnAnIndependentEmulator(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx := t.Context()
	s := must(github.New(github.Config{URL: e.url, Owner: "ada", Name: "engine", Token: token("ghp_ada"), Client: &http.Client{Transport: e}, Now: time.Now}))(t)
	wakes := e.hooked(s)

	if me := must(s.Whoami(ctx))(t); me.Name != "ada" || me.Bot {
		t.Errorf("we are %+v", me)
	}
	if r := must(s.Repository(ctx))(t); r.Path != "ada/engine" || r.DefaultBranch != "main" || !r.MayPush || !r.MayMerge || !slices.Contains(r.Methods, "merge") {
		t.Errorf("the repository is %+v", r)
	}
	e.as("ada", http.MethodPut, "/collaborators/grace", map[string]string{"permission": "admin"}, nil) // of "write", the emulator says "push", which GitHub never does
	for who, want := range map[string]bool{"ada": true, "grace": true, "mallory": false, "nobody-at-all": false} {
		if may := must(s.MayWrite(ctx, who))(t); may != want {
			t.Errorf("%s may write: %t", who, may)
		}
	}

	before := time.Now().Add(-time.Minute)
	var filed struct{ Number int }
	e.as("mallory", http.MethodPost, "/issues", map[string]string{"title": "Greet the world", "body": "Say hello."}, &filed)
	e.as("ada", http.MethodPost, "/labels", map[string]string{"name": "signalbox", "color": "1d76db"}, nil)
	e.as("ada", http.MethodPost, fmt.Sprintf("/issues/%d/labels", filed.Number), map[string]any{"labels": []string{"signalbox"}}, nil)
	issue := must(s.Issue(ctx, filed.Number))(t)
	if issue.Title != "Greet the world" || issue.Author != "mallory" || issue.Closed || !slices.Equal(issue.Labels, []string{"signalbox"}) {
		t.Errorf("the issue is %+v", issue)
	}
	if l := must(s.Labelings(ctx, issue.Number))(t); len(l) != 1 || l[0].By != "ada" || l[0].Label != "signalbox" || l[0].ByBot {
		t.Errorf("it was labelled %+v", l)
	}
	on := forge.OnIssue(issue.Number)
	if changes := must(s.Changes(ctx, before))(t); len(changes) != 1 || changes[0].On != on || changes[0].Closed {
		t.Errorf("the news are %+v", changes)
	}
	ok(t, s.Label(ctx, on, []string{"signalbox:running"}, nil))
	ok(t, s.Label(ctx, on, []string{"signalbox:needs-input"}, []string{"signalbox:running"}))
	ok(t, s.Label(ctx, on, nil, []string{"signalbox:running"}))
	if labels := must(s.Issue(ctx, issue.Number))(t).Labels; !slices.Equal(labels, []string{"signalbox", "signalbox:needs-input"}) {
		t.Errorf("the labels are %q", labels)
	}
	told := must(s.CreateRemark(ctx, on, "first"))(t)
	ok(t, s.EditRemark(ctx, on, told.ID, "second"))
	if all := must(s.Remarks(ctx, on))(t); len(all) != 1 || all[0].ID != told.ID || all[0].Body != "second" || all[0].Author != "ada" {
		t.Errorf("the comments are %+v", all)
	}
	if err := s.EditRemark(ctx, on, 4711, "x"); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("to edit what is not there gives %v", err)
	}
	e.proposes(s, issue)
	e.merges(s, issue)
	events := map[string]bool{}
	for len(wakes) > 0 {
		events[(<-wakes).Event] = true
	}
	for _, event := range []string{"issues", "issue_comment", "pull_request", "pull_request_review"} {
		if !events[event] {
			t.Errorf("of %s, no webhook told: %v", event, events)
		}
	}
}

// hooked has the emulator send its webhooks to the driver.
func (e *emulator) hooked(s *github.Server) <-chan forge.Wake {
	e.t.Helper()
	wakes := make(chan forge.Wake, 1000)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		wake, err := s.Webhook(r.Header, r.Body, "open-sesame-of-ada-7")
		if err != nil {
			e.t.Errorf("webhook %s: %v", r.Header.Get("X-Github-Event"), err)
		}
		wakes <- wake
	}))
	e.t.Cleanup(receiver.Close)
	e.as("ada", http.MethodPost, "/hooks", map[string]any{"active": true, "events": []string{"*"},
		"config": map[string]string{"url": receiver.URL, "content_type": "json", "secret": "open-sesame-of-ada-7"}}, nil)
	return wakes
}

// commits puts a file on a branch, as a push does, and returns the commit.
func (e *emulator) commits(branch, file string) string {
	e.t.Helper()
	e.as("ada", http.MethodPut, "/contents/"+file, map[string]string{"message": "Greet", "content": "aGVsbG8K", "branch": branch}, nil)
	return e.tip(branch)
}

func (e *emulator) tip(branch string) string {
	e.t.Helper()
	var there struct{ Object struct{ SHA string } }
	e.as("ada", http.MethodGet, "/git/ref/heads/"+branch, nil, &there)
	return there.Object.SHA
}

// proposes opens the pull request, edits it and reads what is said of it.
func (e *emulator) proposes(s *github.Server, issue forge.Issue) {
	e.t.Helper()
	t, ctx := e.t, e.t.Context()
	const branch = "signalbox/1-greet-the-world"
	if _, err := s.ProposalOf(ctx, "", branch); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("before there is one, it gives %v", err)
	}
	e.as("ada", http.MethodPost, "/git/refs", map[string]string{"ref": "refs/heads/" + branch, "sha": e.tip("main")}, nil)
	red := e.commits(branch, "one")
	p := must(s.Propose(ctx, forge.Proposal{Title: issue.Title, Body: "Work in progress.", Branch: branch, Base: "main"}))(t)
	p.Title, p.Body = "Greet the whole world", "Done."
	ok(t, s.EditProposal(ctx, p))
	if found := must(s.ProposalOf(ctx, "", branch))(t); found.Number != p.Number || found.Head != red || found.Body != "Done." || found.Title != p.Title || found.State != forge.Open || found.Base != "main" {
		t.Errorf("the pull request is %+v", found)
	}
	if asked := must(s.Required(ctx, "main"))(t); asked.Approvals != 0 || asked.PushRefused || asked.Queue || len(asked.Verdicts) != 0 {
		t.Errorf("without a protection, the branch asks for %+v", asked)
	}
	e.commits("main", "two")
	e.as("ada", http.MethodPut, "/branches/main/protection", map[string]any{"required_status_checks": map[string]any{"strict": false, "contexts": []string{"ci"}},
		"required_pull_request_reviews": map[string]any{"required_approving_review_count": 1}, "enforce_admins": true, "restrictions": nil}, nil)
	if asked := must(s.Required(ctx, "main"))(t); asked.Approvals != 1 || !asked.PushRefused || !slices.Equal(asked.Verdicts, []string{"ci"}) {
		t.Errorf("the protection asks for %+v", asked)
	}
	e.checked(s, red, "failure", forge.Failed)
	e.as("grace", http.MethodPost, fmt.Sprintf("/pulls/%d/reviews", p.Number), map[string]string{"event": "REQUEST_CHANGES", "body": "Louder."}, nil)
	if r := must(s.Reviews(ctx, p.Number))(t); len(r) != 1 || r[0].Author != "grace" || r[0].State != forge.ChangesWanted || r[0].Body != "Louder." || r[0].Commit != red {
		t.Errorf("the reviews are %+v", r)
	}
}

// checked reports a check run on a commit and reads it.
func (e *emulator) checked(s *github.Server, commit, conclusion string, want forge.VerdictState) {
	e.t.Helper()
	var run struct{ ID int64 }
	e.as("ada", http.MethodPost, "/check-runs", map[string]string{"name": "ci", "head_sha": commit, "status": "in_progress"}, &run)
	if v := must(s.Verdicts(e.t.Context(), commit))(e.t); len(v) != 1 || v[0].Name != "ci" || v[0].State != forge.Pending {
		e.t.Errorf("while it runs, the checks are %+v", v)
	}
	e.as("ada", http.MethodPatch, fmt.Sprintf("/check-runs/%d", run.ID), map[string]string{"status": "completed", "conclusion": conclusion}, nil)
	if v := must(s.Verdicts(e.t.Context(), commit))(e.t); len(v) != 1 || v[0].State != want {
		e.t.Errorf("after a %s, the checks are %+v", conclusion, v)
	}
}

// merges merges the present commit and no other, once it is approved, and closes the issue.
func (e *emulator) merges(s *github.Server, issue forge.Issue) {
	e.t.Helper()
	t, ctx := e.t, e.t.Context()
	p := must(s.ProposalOf(ctx, "", "signalbox/1-greet-the-world"))(t)
	stale := p.Head
	e.as("ada", http.MethodPut, fmt.Sprintf("/pulls/%d/update-branch", p.Number), map[string]string{"expected_head_sha": stale}, nil) // a push does not move the head here
	head := must(s.Proposal(ctx, p.Number))(t).Head
	if head == stale {
		t.Fatal("the branch is as it was")
	}
	e.checked(s, head, "success", forge.Passed)
	if err := s.MergeProposal(ctx, p.Number, head, "Merge it"); err == nil {
		t.Error("it is merged without an approval")
	}
	e.as("grace", http.MethodPost, fmt.Sprintf("/pulls/%d/reviews", p.Number), map[string]string{"event": "APPROVE", "body": "Good."}, nil)
	if r := must(s.Reviews(ctx, p.Number))(t); len(r) != 1 || r[0].State != forge.Approved || r[0].Commit != head {
		t.Errorf("the reviews are %+v", r)
	}
	if err := s.MergeProposal(ctx, p.Number, stale, "Merge it"); !errors.Is(err, forge.ErrHeadMoved) {
		t.Errorf("another head gives %v", err)
	}
	for range 2 { // the second finds it merged
		ok(t, s.MergeProposal(ctx, p.Number, head, "Merge it\n\nIt passed."))
	}
	if merged := must(s.Proposal(ctx, p.Number))(t); merged.State != forge.Merged || merged.MergeCommit == "" || merged.MergedAt == nil {
		t.Errorf("merged as %+v", merged)
	}
	ok(t, s.CloseIssue(ctx, issue.Number))
	if closed := must(s.Issue(ctx, issue.Number))(t); !closed.Closed {
		t.Errorf("the issue is %+v", closed)
	}
	open, err := s.Issues(ctx, forge.Query{Labels: []string{"signalbox"}}, 100)
	if all := must(s.Issues(ctx, forge.Query{Labels: []string{"signalbox"}, State: "all"}, 100))(t); err != nil || len(open) != 0 || len(all) != 1 {
		t.Errorf("open are %+v (%v), and all %+v", open, err, all)
	}
}
