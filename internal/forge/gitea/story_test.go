package gitea_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/gitea"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/forge/local"
	"signalbox/internal/process"
)

var record = flag.Bool("record", false, "write the webhooks of the story to testdata/webhooks")

const (
	jobName = "ci / test (pull_request)"
	red     = `echo "attempt $GITHUB_RUN_ATTEMPT: the tests fail here"; exit 1`
	green   = `echo "the tests pass here"`
)

// workflow is a CI file whose second step is this command.
func workflow(command string) string {
	return "name: ci\non: [pull_request]\njobs:\n  test:\n    runs-on: host\n    steps:\n      - run: echo prepared\n      - name: tests\n        run: '" + command + "'\n"
}

// TestAChangeGetsThroughTheServersCIAndProtection is the whole story on a real server: the branch is protected, so the server merges; its CI is
// red, then green; a second person approves; nothing is waited for but by webhooks.
func TestAChangeGetsThroughTheServersCIAndProtection(t *testing.T) {
	t.Parallel()
	at := newGuarded(t)
	if err := server.Runner(t.Context()); err != nil {
		t.Fatal(err)
	}
	reviewer, err := server.User(t.Context(), "reviewer-"+at.Name)
	if err != nil {
		t.Fatal(err)
	}
	driver, err := at.driver(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &story{target: at, driver: driver, wakes: make(chan forge.Wake, 1000)}
	s.hook(t)
	s.protect(t)
	project := newProject(t, at)
	passes := func(context.Context, local.Candidate) (local.Verdict, error) { return local.Verdict{Passed: true}, nil }
	f, err := open(t.Context(), process.Host{}, nil, project, at, passes)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.MayMerge(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	request, err := f.OpenRequest(t.Context(), "key", "WIP: It is broken", "Fix it, @"+bot+".")
	if err != nil {
		t.Fatal(err)
	}
	s.discuss(t, request.Number, reviewer)

	pr := forge.PullRequest{Key: "run-1", Request: request.ID, Title: request.Title, Body: "What it does. Fixes #" + request.ID, Branch: "signalbox/1-it-is-broken", Base: "main",
		Head: s.commit(t, project, "main", workflow(red))}
	if pr, err = f.OpenPullRequest(t.Context(), pr); err != nil {
		t.Fatal(err)
	}
	check := s.checks(t, f, pr)
	if check.State != forge.CheckFailed || check.Server != jobName || !check.Rerunnable ||
		!strings.HasPrefix(check.Log(t.Context()), `The log of "ci / test (pull_request)", step "tests", ends with:`) || !strings.Contains(check.Log(t.Context()), "attempt 1: the tests fail here") {
		t.Fatalf("the check is %+v", check)
	}
	for range 2 {
		if jobs, err := f.Rerun(t.Context(), pr.Number, pr.Head); err != nil || !slices.Equal(jobs, []string{jobName}) {
			t.Errorf("%q run again, %v", jobs, err)
		}
	}
	if check = s.checks(t, f, pr); check.State != forge.CheckFailed || check.Rerunnable || !strings.Contains(check.Log(t.Context()), "attempt 2: the tests fail here") {
		t.Errorf("the check of the second attempt is %+v", check)
	}
	check.State = forge.CheckPassed
	if _, err := f.Merge(t.Context(), pr.Number, check, "m"); !errors.Is(err, forge.ErrNoChecks) {
		t.Errorf("with a red CI, a merge gives %v", err)
	}
	if err := driver.MergeProposal(t.Context(), pr.Number, pr.Head, "m"); !errors.Is(err, forge.ErrNotReady) {
		t.Errorf("with a red CI, the server's merge gives %v", err)
	}

	thread := s.object(t, f, pr, reviewer)
	stale := pr.Head
	pr.Head = s.commit(t, project, stale, workflow(green))
	if pr, err = f.OpenPullRequest(t.Context(), pr); err != nil {
		t.Fatal(err)
	}
	s.reply(t, f, pr, thread)
	if check = s.checks(t, f, pr); check.State != forge.CheckPassed || check.Head != pr.Head {
		t.Fatalf("the check is %+v", check)
	}
	if _, err := f.Merge(t.Context(), pr.Number, check, "m"); !errors.Is(err, forge.ErrPending) {
		t.Errorf("without an approval, a merge gives %v", err)
	}
	s.approve(t, f, pr, reviewer)
	if err := driver.MergeProposal(t.Context(), pr.Number, stale, "m"); !errors.Is(err, forge.ErrHeadMoved) {
		t.Errorf("another head gives %v", err)
	}
	merged := s.merge(t, f, pr, check)
	if tree := runGit(t, project, "rev-parse", "main^{tree}"); tree != check.Tree || runGit(t, project, "rev-parse", "main") != merged.MergeCommit {
		t.Errorf("main has tree %s, want %s of %s", tree, check.Tree, merged.MergeCommit)
	}
	if err := f.CloseRequest(t.Context(), request, merged.MergeCommit); err != nil {
		t.Fatal(err)
	}
	if issue, err := f.Request(t.Context(), request.ID); err != nil || !issue.Closed || issue.Title != request.Title {
		t.Errorf("the issue is %+v, %v", issue, err)
	}
}

type story struct {
	target
	driver *gitea.Server
	wakes  chan forge.Wake
}

// hook has the server send all webhooks here, where the driver reads them.
func (s *story) hook(t *testing.T) {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		wake, err := s.driver.Webhook(r.Header, bytes.NewReader(body), hookSecret)
		if err != nil {
			t.Errorf("webhook %s: %v", r.Header.Get("X-Gitea-Event"), err)
		}
		if *record {
			s.keep(t, r.Header, body)
		}
		s.wakes <- wake
	}))
	t.Cleanup(receiver.Close)
	s.call(t, http.MethodPost, "/hooks", map[string]any{"type": "gitea", "active": true, "config": map[string]any{"url": receiver.URL, "content_type": "json", "secret": hookSecret},
		"events": []string{"push", "issues", "issue_label", "issue_comment", "pull_request", "pull_request_comment", "pull_request_sync", "pull_request_review_approved", "status",
			"workflow_run", "workflow_job"}}, nil)
}

// protect lets no one push to main, and asks for the job and one approval.
func (s *story) protect(t *testing.T) {
	t.Helper()
	s.call(t, http.MethodPost, "/branch_protections", map[string]any{"rule_name": "main", "enable_push": false, "enable_status_check": true,
		"status_check_contexts": []string{"ci / *"}, "required_approvals": 1, "block_admin_merge_override": true}, nil)
	asked, err := s.driver.Required(t.Context(), "main")
	if err != nil || !asked.PushRefused || asked.Approvals != 1 || !slices.Equal(asked.Verdicts, []string{"ci / *"}) {
		t.Errorf("the protection is %+v, %v", asked, err)
	}
}

// discuss comments on the issue as two people, and labels it.
func (s *story) discuss(t *testing.T, number int, reviewer string) {
	t.Helper()
	if err := server.Call(t.Context(), reviewer, http.MethodPost, fmt.Sprintf("repos/%s/%s/issues/%d/comments", bot, s.Name, number), map[string]any{"body": "/signalbox run"}, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.driver.Label(t.Context(), forge.OnIssue(number), []string{"signalbox:running", "bug"}, []string{"bug"}); err != nil {
			t.Fatal(err)
		}
		if err := s.driver.Label(t.Context(), forge.OnIssue(number), nil, []string{"bug"}); err != nil {
			t.Fatal(err)
		}
	}
	issue, err := s.driver.Issue(t.Context(), number)
	if err != nil || !slices.Equal(issue.Labels, []string{"signalbox:running"}) || strings.Contains(issue.Body, "@"+bot) {
		t.Errorf("the issue is %+v, %v", issue, err)
	}
	remarks, err := s.driver.Remarks(t.Context(), forge.OnIssue(number))
	if err != nil || len(remarks) != 1 || remarks[0].ByBot || remarks[0].Edited {
		t.Fatalf("the comments are %+v, %v", remarks, err)
	}
	s.await(t, func(w forge.Wake) bool { return w.Texts[remarks[0].ID] == issue.Sum() })
	for range 2 {
		if err := s.driver.Acknowledge(t.Context(), remarks[0]); err != nil {
			t.Error(err)
		}
	}
	for account, want := range map[string]bool{bot: true, remarks[0].Author: false, "no-such-account": false, "../x": false} {
		if may, err := s.driver.MayWrite(t.Context(), account); err != nil || may != want {
			t.Errorf("%q may write: %v, %v", account, may, err)
		}
	}
}

// commit makes a commit with this CI file on parent.
func (s *story) commit(t *testing.T, project, parent, ci string) string {
	t.Helper()
	runGit(t, project, "switch", "--quiet", "--detach", parent)
	path := filepath.Join(project, ".gitea", "workflows", "ci.yml")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(ci), 0o600)); err != nil {
		t.Fatal(err)
	}
	runGit(t, project, "add", ".")
	runGit(t, project, "commit", "--quiet", "-m", "Change the CI file")
	head := runGit(t, project, "rev-parse", "HEAD")
	runGit(t, project, "switch", "--quiet", "main")
	return head
}

// checks asks for the checks whenever a webhook says that there may be news, until nothing is missing.
func (s *story) checks(t *testing.T, f *hosted.Forge, pr forge.PullRequest) forge.Check {
	t.Helper()
	for {
		check, err := f.Checks(t.Context(), pr.Number)
		var pending *forge.PendingError
		if !errors.As(err, &pending) {
			if err != nil {
				t.Fatal(err)
			}
			return check
		}
		s.await(t, func(w forge.Wake) bool { return w.Commit == pr.Head || slices.Contains(w.Numbers, pr.Number) })
	}
}

// await returns at the next webhook of the kind.
func (s *story) await(t *testing.T, wanted func(forge.Wake) bool) {
	t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		select {
		case wake := <-s.wakes:
			if wanted(wake) {
				return
			}
		case <-limit:
			t.Fatal("no webhook came")
		}
	}
}

// object has a second person want changes, before and after they may write, and returns the thread that they began.
func (s *story) object(t *testing.T, f *hosted.Forge, pr forge.PullRequest, reviewer string) string {
	t.Helper()
	if err := server.Call(t.Context(), reviewer, http.MethodPost, fmt.Sprintf("repos/%s/%s/pulls/%d/reviews", bot, s.Name, pr.Number), map[string]any{"event": "REQUEST_CHANGES",
		"body": "Not yet.", "comments": []map[string]any{{"path": ".gitea/workflows/ci.yml", "new_position": 2, "body": "Why this @" + bot + "?"}}}, nil); err != nil {
		t.Fatal(err)
	}
	if said, err := f.Opinions(t.Context(), pr.Number); err != nil || len(said.Objections) != 0 {
		t.Errorf("of someone who may not write, %+v are heard, %v", said, err)
	}
	s.call(t, http.MethodPut, "/collaborators/reviewer-"+s.Name, map[string]any{"permission": "write"}, nil)
	said, err := f.Opinions(t.Context(), pr.Number)
	if err != nil || len(said.Objections) != 2 || len(said.ApprovedBy) != 0 {
		t.Fatalf("the opinions are %+v, %v", said, err)
	}
	asked := said.Objections[0]
	if asked.Thread == "" || asked.Path != ".gitea/workflows/ci.yml" || asked.Line != 2 || !strings.HasPrefix(asked.Text, "reviewer-"+s.Name+": Why this") || !strings.HasSuffix(said.Objections[1].Text, "Not yet.") {
		t.Errorf("the opinions are %+v", said)
	}
	return asked.Thread
}

// reply answers in the thread, again and again.
func (s *story) reply(t *testing.T, f *hosted.Forge, pr forge.PullRequest, thread string) {
	t.Helper()
	for range 2 {
		if err := f.Reply(t.Context(), pr.Number, thread, "run-1/1", "Addressed."); err != nil {
			t.Fatal(err)
		}
	}
	threads, err := s.driver.Threads(t.Context(), pr.Number)
	if err != nil || len(threads) != 1 || len(threads[0].Remarks) != 2 || !threads[0].Resolved || !strings.HasSuffix(threads[0].Remarks[1].Body, "Addressed.") {
		t.Errorf("the threads are %+v, %v", threads, err)
	}
	if said, err := f.Opinions(t.Context(), pr.Number); err != nil || len(said.Objections) != 1 || said.Objections[0].Thread != "" {
		t.Errorf("the opinions are %+v, %v", said, err)
	}
}

// approve is the approval of a second person, who may write.
func (s *story) approve(t *testing.T, f *hosted.Forge, pr forge.PullRequest, reviewer string) {
	t.Helper()
	if err := server.Call(t.Context(), reviewer, http.MethodPost, fmt.Sprintf("repos/%s/%s/pulls/%d/reviews", bot, s.Name, pr.Number),
		map[string]any{"event": "APPROVED", "body": "Good.", "commit_id": pr.Head}, nil); err != nil {
		t.Fatal(err)
	}
	reviews, err := s.driver.Reviews(t.Context(), pr.Number)
	approved := forge.Review{}
	for _, r := range reviews {
		if r.Author == "reviewer-"+s.Name {
			approved = r
		}
	}
	if err != nil || approved.State != forge.Approved || approved.Commit != pr.Head {
		t.Errorf("the reviews are %+v, %v", reviews, err)
	}
	if said, err := f.Opinions(t.Context(), pr.Number); err != nil || !slices.Equal(said.ApprovedBy, []string{"reviewer-" + s.Name}) {
		t.Errorf("the opinions are %+v, %v", said, err)
	}
	s.await(t, func(w forge.Wake) bool { return strings.Contains(w.Event, "approved") })
}

// merge merges as soon as the server has computed that it can.
func (s *story) merge(t *testing.T, f *hosted.Forge, pr forge.PullRequest, check forge.Check) forge.PullRequest {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		merged, err := f.Merge(t.Context(), pr.Number, check, "Merge it\n\nIt passed.")
		if err == nil {
			return merged
		}
		if !errors.Is(err, forge.ErrPending) {
			t.Fatal(err)
		}
		<-tick.C
	}
}

var commits = regexp.MustCompile(`"[0-9a-f]{40}"`)

// keep writes what the driver reads of a webhook to testdata, with the names of the recorded project.
func (s *story) keep(t *testing.T, header http.Header, body []byte) {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatal(err)
	}
	read := map[string]any{}
	for key, fields := range map[string][]string{"action": nil, "number": nil, "sha": nil, "repository": {"full_name"}, "sender": {"id", "login"}, "issue": {"number"},
		"pull_request": {"number"}, "comment": {"user"}, "workflow_run": {"head_sha"}, "workflow_job": {"head_sha"}} {
		value, there := all[key]
		if object, ok := value.(map[string]any); ok {
			some := map[string]any{}
			for _, field := range fields {
				some[field] = object[field]
			}
			if who, ok := some["user"].(map[string]any); ok {
				some["user"] = map[string]any{"id": who["id"], "login": who["login"]}
			}
			value = some
		}
		if there {
			read[key] = value
		}
	}
	text, err := json.MarshalIndent(read, "", "  ")
	name := header.Get("X-Gitea-Event") + "." + header.Get("X-Gitea-Event-Type") + ".json"
	text = commits.ReplaceAll(bytes.ReplaceAll(text, []byte(s.Name), []byte("project")), []byte(`"`+strings.Repeat("c", 40)+`"`))
	if err == nil {
		err = os.WriteFile(filepath.Join("testdata", "webhooks", name), append(text, '\n'), 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}
