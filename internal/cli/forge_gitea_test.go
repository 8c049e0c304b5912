package cli_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"signalbox/internal/workflow"
)

// agentOfTea plans and reviews, and changes greet.sh as the issue, the log of a failed job and ada want it.
const agentOfTea = `asked=$(cat)
case $SIGNALBOX_ROLE in
planner) cat <<'PLAN'
{"goal_understanding": "greet.sh names the world.",
 "action_plan": {"steps": [
  {"step_id": "S01", "title": "Show that the world is missing", "phase": "tdd-red", "instructions": "Write a test that fails."},
  {"step_id": "S02", "title": "Greet the world", "phase": "tdd-green", "instructions": "Make the test pass."}]}}
PLAN
exit ;;
reviewer) echo '{"summary": "Small and clear.", "findings": []}'; exit ;;
esac
env
case $SIGNALBOX_STEP in
S01) echo 'test "$(sh greet.sh)" = "hello world"' >tests/world.sh ;;
*) sed -i 's/^echo hello$/echo "hello world"/' greet.sh ;;
esac
case $asked in *"the first line names no shell"*) grep -q '^#!' greet.sh || sed -i '1i #!/bin/sh' greet.sh ;; esac
case $asked in *"printf is the same in every shell"*) sed -i "s/^echo .*/printf 'hello world\\\\n'/" greet.sh ;; esac
echo Done.
`

const configOfTea = `forge: {driver: gitea, statuses: true, labels: true, webhook: HOOK_WORD}
approve: forge
tests: ['for test in tests/*.sh; do sh "$test" || exit 1; done']
environment: {set_up: []}
roles: {planner: script, reviewer: script, repairer: none}
agents: {script: {driver: command, command: [sh, ./agent.sh]}}
`

// jobOfTea asks for more than the tests do that Signalbox runs.
const jobOfTea = `name: ci
on: [pull_request]
jobs:
  style:
    runs-on: host
    steps:
      - name: Check out
        run: |
          git init -q . && git fetch -q --depth 1 ${{ github.server_url }}/${{ github.repository }} ${{ github.sha }} && git checkout -q FETCH_HEAD
      - name: Look for a shell
        run: |
          head -1 greet.sh | grep '^#!' || { echo "greet.sh: the first line names no shell"; exit 1; }
`

// An issue of a real Gitea becomes a merged pull request, through the real program: a maintainer's label starts the run, the server's own CI is
// red and its log goes to the agent, a second person reviews and then approves on the page, and the branch is protected. Only webhooks tell of news.
func TestAnIssueOfARealGiteaIsCarriedThroughItsCIAndReview(t *testing.T) {
	t.Parallel()
	g := newTea(t, "greeter", map[string]string{"greet.sh": "echo hello\n", "tests/runs.sh": "sh greet.sh\n", "agent.sh": agentOfTea, ".signalbox/config.yaml": configOfTea,
		".gitea/workflows/ci.yml": jobOfTea})
	g.as("grace", http.MethodPost, "/branch_protections", map[string]any{"rule_name": "main", "enable_push": false, "enable_status_check": true,
		"status_check_contexts": []string{"ci / *"}, "required_approvals": 1, "block_admin_merge_override": true}, nil)
	number := g.issue("The greeting should name the world", "`sh greet.sh` prints `hello`. It should print `hello world`, as @everyone expects since #1.")
	watch := g.startWith(append(g.env, "HOOK_WORD=open-sesame-of-grace-7"), "forge", "watch", "--every", "1h", "--listen", "127.0.0.1:0")
	until(t, g.dir, watch.done, func() bool { return strings.Contains(watch.out.String(), "/webhook") }, ".signalbox/issues", ".signalbox/locks")
	g.as("grace", http.MethodPost, "/hooks", map[string]any{"type": "gitea", "active": true,
		"config": map[string]any{"url": regexp.MustCompile(`http://\S+/webhook`).FindString(watch.out.String()), "content_type": "json", "secret": "open-sesame-of-grace-7"},
		"events": []string{"issues", "issue_label", "issue_comment", "pull_request", "pull_request_comment", "pull_request_review_approved", "pull_request_review_rejected",
			"pull_request_review_comment", "status", "workflow_job"}}, nil)
	g.label("grace", number)

	var run workflow.Run
	parked := func(not string) {
		t.Helper()
		if !until(t, g.dir, watch.done, func() bool {
			run = g.stages()[fmt.Sprint(number)]
			return run.State == workflow.NeedsInput || run.State == workflow.Queued && run.Details.PullRequest != nil && run.Details.PullRequest.Checked != nil && run.Details.Head != not
		}) || run.State == workflow.NeedsInput {
			t.Fatalf("it is %s, %+v, and did not wait for an approval of a commit other than %q:\n%s\n%s", run.State, run.Error.Message, not, watch.out, g.read("runs/*/*/logs/*"))
		}
	}
	parked("")
	pull := run.Details.PullRequest.Number
	first := run.Details.Head
	g.picture("gitea-issue-waits", fmt.Sprintf("/issues/%d", number))
	g.as("ada", http.MethodPost, fmt.Sprintf("/pulls/%d/reviews", pull), map[string]any{"event": "REQUEST_CHANGES", "body": "One thing, @signalbox.",
		"comments": []map[string]any{{"path": "greet.sh", "new_position": 2, "body": "printf is the same in every shell; echo is not."}}}, nil)
	parked(first)
	g.answered(pull, run.Details.Head)
	g.as("ada", http.MethodPost, fmt.Sprintf("/pulls/%d/reviews", pull), map[string]any{"event": "APPROVED", "body": "Thanks.", "commit_id": run.Details.Head}, nil)
	if !until(t, g.dir, watch.done, func() bool {
		run = g.stages()[fmt.Sprint(number)]
		return run.State.Ended()
	}) || run.State != workflow.Done {
		t.Fatalf("it is %s, %+v:\n%s", run.State, run.Error, watch.out)
	}
	watch.signal(syscall.SIGINT)
	if code := watch.wait(); code != 0 {
		t.Errorf("the watcher ends with %d:\n%s", code, watch.out)
	}
	g.picture("gitea-pull-request", fmt.Sprintf("/pulls/%d", pull))

	g.settled(number)
	all := g.pulls()
	if len(all) != 1 || !all[0].Merged || all[0].Draft || strings.Contains(all[0].Body, "@everyone") {
		t.Fatalf("the pull requests are %+v", all)
	}
	if heads := g.branches(); strings.Contains(heads, "signalbox/") {
		t.Errorf("the branches are\n%s", heads)
	}
	g.gitWith(g.env, "fetch", "--quiet", "origin", "main")
	if merges := g.git("rev-list", "--merges", "--count", "FETCH_HEAD"); merges != "1" || g.git("show", "FETCH_HEAD:greet.sh") != "#!/bin/sh\nprintf 'hello world\\n'" {
		t.Errorf("after %s merges, main has\n%s", merges, g.git("show", "FETCH_HEAD:greet.sh"))
	}
	if a := run.Details.Approval; a == nil || a.By != "ada" || !a.OnForge || a.Commit != run.Details.Head {
		t.Errorf("approved: %+v", a)
	}
	states := g.statuses(run.Details.Head)
	for _, name := range []string{"ci / style (pull_request)", "signalbox/tests", "signalbox/review", "signalbox/approval"} {
		if states[name] != "success" {
			t.Errorf("the statuses are %v", states)
		}
	}
	red := g.git("log", "--format=%H", "--first-parent", "--reverse", run.Details.Head, "^FETCH_HEAD^1")
	if !slices.ContainsFunc(strings.Fields(red), func(commit string) bool { return g.statuses(commit)["ci / style (pull_request)"] == "failure" }) {
		t.Errorf("no commit of\n%s\nwas red", red)
	}
	g.drafted(pull)
	for _, secret := range []string{realGitea.people["signalbox"], "open-sesame-of-grace-7"} {
		(&hub{project: g.project}).nowhere(secret)
		if strings.Contains(watch.out.String(), secret) {
			t.Errorf("it printed %s", secret)
		}
	}
}

// answered wants ada's thread answered once, with the commit, and resolved.
func (g *tea) answered(pull int, head string) {
	g.Helper()
	var reviews []struct {
		ID int64 `json:"id"`
	}
	g.as("ada", http.MethodGet, fmt.Sprintf("/pulls/%d/reviews", pull), nil, &reviews)
	var texts []string
	resolved := false
	for _, r := range reviews {
		var said []struct {
			Body     string    `json:"body"`
			Resolver *struct{} `json:"resolver"`
		}
		g.as("ada", http.MethodGet, fmt.Sprintf("/pulls/%d/reviews/%d/comments", pull, r.ID), nil, &said)
		for _, c := range said {
			texts, resolved = append(texts, c.Body), resolved || c.Resolver != nil
		}
	}
	if len(texts) != 2 || !resolved || !strings.HasSuffix(strings.TrimSpace(texts[1]), "Addressed in "+head+".") {
		g.Errorf("the thread is %q, resolved: %t", texts, resolved)
	}
}

// drafted wants a pull request that was a draft first.
func (g *tea) drafted(pull int) {
	g.Helper()
	var history []struct {
		Type string `json:"type"`
		Old  string `json:"old_title"`
		New  string `json:"new_title"`
	}
	g.as("ada", http.MethodGet, fmt.Sprintf("/issues/%d/timeline", pull), nil, &history)
	for _, e := range history {
		if e.Type == "change_title" && strings.HasPrefix(e.Old, "WIP: ") && !strings.HasPrefix(e.New, "WIP: ") {
			return
		}
	}
	g.Errorf("it was no draft: %+v", history)
}
