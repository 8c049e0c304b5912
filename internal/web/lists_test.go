package web

import (
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"signalbox/internal/access"
	"signalbox/internal/app/apptest"
	"signalbox/internal/language"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// A run waits for approval, an environment of another tool is abandoned, and names would be images.
func TestWhatElsePeopleLookAt(t *testing.T) {
	t.Parallel()
	files := maps.Clone(apptest.Greeting)
	files["requests/greet.md"] = strings.Replace(files["requests/greet.md"], "title: Greet the world", "title: '"+image+"'", 1)
	dir := apptest.Make(t, files)
	p := apptest.Open(t, dir)
	v := visits(t, dir, access.User{Name: "op", Role: access.Operator})
	pages := []string{"new", "environments", "sessions", "health", "cost", "doctor"}
	for _, page := range pages {
		v.sees("/p/demo/"+page, `aria-current="page"`)
	}
	run := waits(t, p)
	if err := p.Store.Environments().Update(t.Context(), func(doc *registry.Environments) error {
		doc.Environments = append(doc.Environments, registry.Environment{EnvID: "of-another-tool", IssueNumber: 9, Title: image, Status: registry.EnvironmentAbandoned, Step: "tdd-green",
			Phase: 5, Area: image, PendingIssues: []string{}, CreatedAt: run.StartedAt, LastUsedAt: run.StartedAt})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	v.sees("/p/demo/environments", run.Details.EnvID, "of-another-tool", "was not made here", `name="clean" value="of-another-tool"`, "!<img src=x")
	v.sees("/p/demo/runs/7/history", imageText, "!<img src=x", `type="range"`, "approval-wait", "tdd-green", "Where the time went", "TestsEnded")
	v.sees("/p/demo/runs/7/history?at=1", "branch-create", "of 1")
	v.sees("/p/demo/runs/7/history?at=-5")

	if err := p.Store.Stage(workflow.RefOf(&run)).Update(t.Context(), func(r *workflow.Run) error {
		r.Details.Spent = workflow.Usage{InputTokens: 1234, OutputTokens: 1, CostMicroUSD: 2_500_000}
		r.Details.Days = []workflow.Day{{Date: "2026-01-02", Usage: r.Details.Spent, Calls: 3}}
		r.Details.Assistants = []workflow.Assistant{{Role: workflow.Implementer, Agent: image, Model: image}}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	v.sees("/p/demo/cost", "2026-01-02", "1,234", "$2.50")
	v.sees("/p/demo/cost?by=model", imageText, "!<img src=x")
	v.sees("/p/demo/cost?by=request", `href="/p/demo/runs/7"`, imageText)
	if status, _, _ := v.asks(http.MethodGet, "/p/demo/cost?by=luck", "en", nil); status == http.StatusOK {
		t.Error("there is a cost by luck")
	}
	if found := v.posts(http.StatusOK, "/p/demo/doctor", nil); !strings.Contains(found, "</html>") || !strings.Contains(found, "things examined") || strings.Count(found, `class="badge`) < 5 || strings.Contains(found, "<img src=x") {
		t.Errorf("an examination shows %s", found)
	}

	shared := visits(t, dir, access.User{Name: "guest", Role: access.Viewer, Only: run.RunID}) // by a link to one run
	for _, page := range pages {
		if status, _, _ := shared.asks(http.MethodGet, "/p/demo/"+page, "en", nil); status != http.StatusForbidden {
			t.Errorf("a guest of one run sees %s: %d", page, status)
		}
	}
	shared.sees("/p/demo/runs/7/history")
	for path, form := range map[string]url.Values{"environments": {"remove": {run.Details.EnvID}}, "new": {"key": {strings.Repeat("k", 26)}, "title": {"x"}}, "doctor": nil, "preview": nil} {
		shared.posts(http.StatusForbidden, "/p/demo/"+path, form)
	}

	v.posts(http.StatusSeeOther, "/p/demo/environments", url.Values{"clean": {"of-another-tool"}})
	v.posts(http.StatusSeeOther, "/p/demo/environments", url.Values{"remove": {run.Details.EnvID}})
	v.sees("/p/demo/environments", "!of-another-tool", "!"+run.Details.EnvID)
	if _, err := os.Stat(filepath.Join(dir, run.Details.EnvPath)); !os.IsNotExist(err) {
		t.Errorf("the environment is still there: %v", err)
	}

	form := url.Values{"key": {strings.Repeat("k", 26)}, "title": {"Say \x1b[31mmore"}, "description": {image + "<!-- do harm -->\u202e"}, "do": {"create"}}
	if shown := v.posts(http.StatusOK, "/p/demo/preview", form); !strings.Contains(shown, imageText) || strings.Contains(shown, "<img src=x") || !strings.Contains(shown, "characters in it can") || !strings.Contains(shown, "# Say more") {
		t.Errorf("the preview is %s", shown)
	}
	v.posts(http.StatusSeeOther, "/p/demo/new", form)
	v.posts(http.StatusSeeOther, "/p/demo/new", form) // sent twice
	if requests, broken := p.Forge.Requests(t.Context()); len(requests) != 2 || broken != nil || requests[1].Number != 8 {
		t.Errorf("there are the requests %+v (%v)", requests, broken)
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
