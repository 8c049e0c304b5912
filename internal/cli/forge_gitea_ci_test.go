package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/workflow"
)

// hooked has Gitea tell of each job that ended, by its conclusion.
func (g *tea) hooked() <-chan string {
	g.Helper()
	ended := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event struct {
			Action string `json:"action"`
			Job    struct {
				ID         int64  `json:"id"`
				Conclusion string `json:"conclusion"`
			} `json:"workflow_job"`
		}
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &event)
		}
		if err != nil {
			g.Error(err)
		}
		if event.Action == "completed" && event.Job.Conclusion != "skipped" {
			ended <- fmt.Sprintf("%s %d", event.Job.Conclusion, event.Job.ID)
		}
	}))
	g.Cleanup(receiver.Close)
	g.as("grace", http.MethodPost, "/hooks", map[string]any{"type": "gitea", "active": true, "events": []string{"workflow_job"},
		"config": map[string]any{"url": receiver.URL, "content_type": "json"}}, nil)
	return ended
}

// log is what a job printed.
func (g *tea) log(job string) string {
	g.Helper()
	r, err := http.NewRequestWithContext(g.Context(), http.MethodGet, g.URL+"/api/v1/repos/grace/"+g.name+"/actions/jobs/"+job+"/logs", nil)
	if err != nil {
		g.Fatal(err)
	}
	r.Header.Set("Authorization", "token "+realGitea.people["grace"])
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		g.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		g.Fatal(err)
	}
	return string(text)
}

// The file that "ci init" writes, as it is, runs an issue on a real runner when a maintainer sets the label. The run goes from that job to a laptop,
// where it is sent back, and to a second job, which merges what grace approves; the laptop then sees that.
func TestTheFileOfCIInitRunsAnIssueOnARealRunner(t *testing.T) {
	t.Parallel()
	g := newTea(t, "jobs", map[string]string{"greet.sh": "echo hello\n", "agent.sh": "case $(cat) in *LOUD*) what=HELLO;; *) what=\"hello world\";; esac\necho \"echo $what\" >greet.sh\nenv\n",
		".signalbox/config.yaml": "forge: {driver: gitea, ci: none}\nworkflow: simple\ntests: [sh greet.sh]\nroles: {planner: none, reviewer: none, repairer: none}\n" +
			"agents: {script: {driver: command, command: [sh, ./agent.sh]}}\n"})
	key := strings.Repeat("0123456789abcdef", 2)
	g.env = append(g.env, stateKey...)
	by := func(want int, args ...string) string {
		t.Helper()
		c := g.startWith(g.env, args...)
		if got := c.wait(); got != want {
			t.Fatalf("signalbox %v: exit code %d, want %d\n%s", args, got, want, c.out)
		}
		return c.out.String()
	}
	by(0, "ci", "init", "--gitea")
	g.git("add", ".gitea")
	g.git("commit", "--quiet", "-m", "Run issues in CI")
	g.gitWith(g.env, "push", "--quiet", "origin", "main")
	g.secret("SIGNALBOX_STATE_KEY", key)
	g.secret("SIGNALBOX_TOKEN", realGitea.people["signalbox"])
	number := g.issue("Greet the world", "greet.sh says hello world. $(touch /tmp/evil) ${{ github.token }}")
	ref := fmt.Sprint(number)
	ended := g.hooked()
	job := func(says ...string) {
		t.Helper()
		select {
		case end := <-ended:
			conclusion, id, _ := strings.Cut(end, " ")
			log := g.log(id)
			for _, text := range append(says, "saved run") {
				if conclusion != "success" || !strings.Contains(log, text) {
					t.Fatalf("the job is a %s, without %q:\n%s", conclusion, text, log)
				}
			}
			for _, secret := range []string{realGitea.people["signalbox"], key} {
				if strings.Contains(log, secret) {
					t.Errorf("the job prints %s:\n%s", secret, log)
				}
			}
		case <-time.After(patience):
			t.Fatal("no job ended")
		}
	}

	g.label("grace", number)
	job("run by grace", "Needs input: #"+ref)

	laptop := &tea{&project{t, projectDir(t)}, g.Server, g.name, g.env}
	laptop.gitWith(g.env, "clone", "--quiet", g.URL+"/grace/"+g.name+".git", ".")
	on := func(want int, args ...string) string {
		t.Helper()
		c := laptop.startWith(g.env, args...)
		if got := c.wait(); got != want {
			t.Fatalf("signalbox %v: exit code %d, want %d\n%s", args, got, want, c.out)
		}
		return c.out.String()
	}
	if out := on(0, "ci", "restore", ref); !strings.Contains(out, "restored run") {
		t.Errorf("restore says\n%s", out)
	}
	first := laptop.stages()[ref]
	if out := on(0, "diff", ref); !strings.Contains(out, "+echo hello world") || first.State != workflow.NeedsInput {
		t.Errorf("it is %s on the laptop, and the difference is\n%s", first.State, out)
	}
	on(3, "reject", ref, "LOUD, please")
	on(0, "ci", "save", ref)
	sent := laptop.stages()[ref]
	if sent.RunID != first.RunID || sent.Details.Head == first.Details.Head || sent.Counters.ImplementerCalls != 2 {
		t.Errorf("on the laptop it went from %+v to %+v", first, sent)
	}

	g.comment("grace", number, "/signalbox approve "+sent.Details.Head)
	job("approve by grace", "Done: #"+ref)
	on(0, "ci", "restore", ref)
	if run := laptop.stages()[ref]; run.State != workflow.Done || run.RunID != first.RunID || run.Details.Approval == nil || run.Details.Approval.By != "grace" || run.Counters.ImplementerCalls != 2 {
		t.Errorf("on the laptop it is %s, %+v after %d calls", run.State, run.Details.Approval, run.Counters.ImplementerCalls)
	}
	g.settled(number)
	if all := g.pulls(); len(all) != 1 || all[0].State != "closed" {
		t.Errorf("the pull requests are %+v", all)
	}
	if heads := g.branches(); strings.Contains(heads, "signalbox/") {
		t.Errorf("the branches are\n%s", heads)
	}
	g.gitWith(g.env, "fetch", "--quiet", "origin", "main")
	if merges := g.git("rev-list", "--merges", "--count", "FETCH_HEAD"); merges != "1" || g.git("show", "FETCH_HEAD:greet.sh") != "echo HELLO" {
		t.Errorf("after %s merges, main has\n%s", merges, g.git("show", "FETCH_HEAD:greet.sh"))
	}
	if _, err := os.Lstat("/tmp/evil"); err == nil {
		t.Error("the issue's text was executed")
	}
	if logs, _ := filepath.Glob(filepath.Join(laptop.dir, "runs/*/*/logs/*")); len(logs) == 0 {
		t.Error("no log came with the run")
	}
	if log := laptop.read("runs/*/*/logs/*"); strings.Contains(log, "GITEA_TOKEN") || strings.Contains(log, "STATE_KEY") {
		t.Errorf("the agent sees\n%s", log)
	}
}
