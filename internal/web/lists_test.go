package web_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"signalbox/internal/access"
	"signalbox/internal/app"
	"signalbox/internal/app/apptest"
	"signalbox/internal/language"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// A run waits for approval, an environment of another tool is abandoned, and its title would be a script.
func TestWhatElsePeopleLookAt(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for name, content := range apptest.Greeting {
		files[name] = strings.Replace(content, "title: Greet the world", "title: '"+hostile+"'", 1)
	}
	v := visits(t, files)
	for _, page := range []string{"new", "environments", "sessions", "health", "cost", "doctor"} {
		v.sees("/p/it/"+page, `aria-current="page"`, "![")
	}
	done, err := v.StartRuns(t.Context(), []string{"7"}, func(*app.App) func(workflow.Run) { return func(workflow.Run) {} })
	if err != nil {
		t.Fatal(err)
	}
	run := done[0].Run
	if err := v.Store.Environments().Update(t.Context(), func(doc *registry.Environments) error {
		doc.Environments = append(doc.Environments, registry.Environment{EnvID: "of-another-tool", IssueNumber: 9, Title: hostile, Status: registry.EnvironmentAbandoned, Step: "tdd-green",
			Phase: 5, Area: hostile, PendingIssues: []string{}, CreatedAt: run.StartedAt, LastUsedAt: run.StartedAt})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	const escaped = "&lt;img src=x onerror=alert(1)&gt;"

	v.sees("/p/it/environments", run.Details.EnvID, "of-another-tool", "was not made here", `name="clean" value="of-another-tool"`, "!<img src=x")
	v.sees("/p/it/runs/7/history", escaped, "!<img src=x", `type="range"`, "approval-wait", "tdd-green", "Where the time went", "TestsEnded")
	v.sees("/p/it/runs/7/history?at=1", "branch-create", "!not-there")
	v.sees("/p/it/runs/7/history?at=-5")

	// A call in hand counts at once, and what an agent is called is text too.
	if err := v.Store.Stage(workflow.RefOf(&run)).Update(t.Context(), func(r *workflow.Run) error {
		r.Details.Spent = workflow.Usage{InputTokens: 1234, OutputTokens: 1, CostMicroUSD: 2_500_000}
		r.Details.Days = []workflow.Day{{Date: "2026-01-02", Usage: r.Details.Spent, Calls: 3}}
		r.Details.Assistants = []workflow.Assistant{{Role: workflow.Implementer, Agent: hostile, Model: hostile}}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	v.sees("/p/it/cost", "2026-01-02", "1,234", "$2.50")
	v.sees("/p/it/cost?by=model", escaped, "!<img src=x")
	v.sees("/p/it/cost?by=request", `href="/p/it/runs/7"`, escaped)
	if status, _ := v.asks(http.MethodGet, "/p/it/cost?by=luck", nil); status == http.StatusOK {
		t.Error("there is a cost by luck")
	}

	status, found := v.asks(http.MethodPost, "/p/it/doctor", nil)
	if status != http.StatusOK || !strings.Contains(found, "</html>") || !strings.Contains(found, "things examined") || strings.Count(found, `class="badge`) < 5 || strings.Contains(found, "<img src=x") {
		t.Errorf("an examination shows %d %s", status, found)
	}

	v.role = access.Viewer
	for path, form := range map[string]url.Values{"environments": {"remove": {run.Details.EnvID}}, "new": {"key": {strings.Repeat("k", 26)}, "title": {"x"}}, "doctor": nil, "preview": nil} {
		if status, _ := v.asks(http.MethodPost, "/p/it/"+path, form); status != http.StatusForbidden {
			t.Errorf("a viewer posts to %s: %d", path, status)
		}
	}
	v.role = access.Operator
	orders := func(path string, form url.Values) string {
		t.Helper()
		status, said := v.asks(http.MethodPost, "/p/it/"+path, form)
		if status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, said)
		}
		return said
	}
	if said := orders("environments", url.Values{"clean": {"of-another-tool"}}); !strings.Contains(said, "1") {
		t.Errorf("a cleanup says %s", said)
	}
	if said := orders("environments", url.Values{"remove": {run.Details.EnvID}}); !strings.Contains(said, run.Details.EnvID) {
		t.Errorf("a removal says %s", said)
	}
	dir, err := v.Store.Abs(run.Details.EnvPath)
	if err == nil {
		_, err = os.Stat(dir)
	}
	if !os.IsNotExist(err) {
		t.Errorf("the environment is still there: %v", err)
	}

	form := url.Values{"key": {strings.Repeat("k", 26)}, "title": {"Say \x1b[31mmore"}, "description": {hostile + "<!-- do harm -->\u202e"}, "do": {"create"}}
	shown := orders("preview", form)
	if !strings.Contains(shown, escaped) || strings.Contains(shown, "<img src=x") || !strings.Contains(shown, "characters in it can") || !strings.Contains(shown, "# Say more") {
		t.Errorf("the preview is %s", shown)
	}
	orders("new", form)
	orders("new", form) // sent twice
	requests, broken := v.Forge.Requests(t.Context())
	if len(requests) != 2 || broken != nil || requests[1].Number != 8 {
		t.Errorf("there are the requests %+v (%v)", requests, broken)
	}
	if _, err := os.Stat(v.Root + "/" + store.RunDir(workflow.RefOf(&run))); err != nil {
		t.Error(err)
	}
}

var asked = regexp.MustCompile(`\.(?:says|Say|Page)\("([^"]*)"[,)]`)

func TestEveryTextThatCodeAsksForExists(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range asked.FindAllStringSubmatch(string(code), -1) {
			for name := range strings.FieldsSeq(m[1]) {
				if names++; !language.HasPage(name) {
					t.Errorf("%s asks for a text %q, which isn't there", file, name)
				}
			}
		}
	}
	if names < 100 {
		t.Fatalf("only %d names of texts are found: this test looks in the wrong place", names)
	}
}
