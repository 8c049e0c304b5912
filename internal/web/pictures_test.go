package web

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"signalbox/internal/access"
	"signalbox/internal/agent"
	"signalbox/internal/app"
	"signalbox/internal/app/apptest"
	"signalbox/internal/app/healing"
	"signalbox/internal/engine"
	"signalbox/internal/health"
	"signalbox/internal/workflow"
)

var pictures = flag.String("pictures", "", "a folder for pictures of the pages, which Chromium takes; scripts/pictures.sh sets it")

// shown is a run in a picture.
type shown struct {
	title  string
	state  workflow.State
	phase  workflow.Phase
	said   string
	change func(*workflow.Run)
}

func failing(category workflow.Category, code, title, message string, next ...workflow.Verb) func(*workflow.Run) {
	return func(r *workflow.Run) {
		r.Error = &workflow.Error{Category: category, ReasonCode: code, Title: title, Message: message, Severity: workflow.Major}
		for _, verb := range next {
			r.Error.Next = append(r.Error.Next, r.Ask("", verb))
		}
		if code == workflow.ApprovalRequired {
			r.Error.Next = append(r.Error.Next, r.SendBack("or send it back"))
		}
	}
}

// picture is a project in the middle of a morning.
var picture = []shown{
	{"Say which line of an import is wrong", workflow.NeedsInput, workflow.DesignCheck, "the design names user ids both int and UUID",
		failing(workflow.CategoryInput, "DESIGN_AMBIGUOUS", "the design names user ids both int and UUID", "docs/import.md says int in the table and UUID in the text below it.\nSettle it in the request, then resume.", workflow.VerbResume)},
	{"Retry webhooks with growing pauses", workflow.Failed, workflow.TDDGreen, "the tests of step S02 fail", failing(workflow.CategoryTest, "TESTS_FAILED", "the tests of step S02 fail", "pause_test.go:41: want 4s, got 2s", workflow.VerbRetry, workflow.VerbLogs)},
	{"Drop the last users of the old queue", workflow.Running, workflow.TDDGreen, "implementing S01", func(r *workflow.Run) {
		now := time.Now().UTC()
		r.Details.Question = &workflow.Question{ID: "Q1", Role: workflow.Implementer, Kind: workflow.PermissionQuestion, Tool: "Bash", Text: "git rm -r internal/queue", AskedAt: now, Until: now.Add(25 * time.Minute)}
	}},
	{"Show amounts in the reader's currency", workflow.Running, workflow.TDDGreen, "implementing S02: Format by locale", nil},
	{"Make the export a stream", workflow.Running, workflow.ReviewRequest, "having the change reviewed, round 1", nil},
	{"Speed up the nightly report", workflow.Running, workflow.TDDRed, "writing failing tests", nil},
	{"Explain refused uploads", workflow.Queued, workflow.BranchCreate, "waits for a slot: runs 14, 15 and 16 hold them", nil},
	{"Keep the session alive while a form is open", workflow.NeedsInput, workflow.ApprovalWait, "the change waits for your approval", failing(workflow.CategoryInput, workflow.ApprovalRequired, "the change waits for your approval", "the change is ready: 6f1c2ab9d0 on signalbox/18-keep-the-session-alive", workflow.VerbDiff, workflow.VerbApprove)},
	{"Refuse uploads above the configured size", workflow.NeedsInput, workflow.ApprovalWait, "the change waits for your approval", failing(workflow.CategoryInput, workflow.ApprovalRequired, "the change waits for your approval", "the change is ready", workflow.VerbDiff, workflow.VerbApprove)},
	{"Name the missing variable at start", workflow.Done, workflow.ParentClose, "merged", nil},
	{"Cache avatars for a day", workflow.Done, workflow.ParentClose, "merged", nil},
	{"Close idle connections", workflow.Done, workflow.ParentClose, "merged", nil},
}

// TestPictures takes the pictures in docs/images, if they are asked for.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("no pictures are asked for: scripts/pictures.sh takes them")
	}
	files := maps.Clone(apptest.Greeting)
	files["requests/greet.md"] = strings.NewReplacer("Greet the world", "Log who changed a setting", "grep -q world greeting.txt", "grep -q By settings.go").Replace(files["requests/greet.md"])
	files["settings.go"] = "// Package settings keeps what people chose.\npackage settings\n\nimport \"log\"\n\n// Set changes a setting.\nfunc Set(name, value string) {\n\tall[name] = value\n\tlog.Print(\"changed \", name)\n}\n\nvar all = map[string]string{}\n"
	files["agent.sh"] = "cat >/dev/null\nsed -i 's/^func Set(name, value string)/func Set(by, name, value string)/; s/log.Print.*/log.Printf(\"%s changed %s to %q\", by, name, value)/; s/Set changes a setting/Set changes a setting. By is the name of the user/' settings.go\n" +
		"printf 'package settings\\n\\nimport \"testing\"\\n\\nfunc TestSet(t *testing.T) {\\n\\tSet(\"ada\", \"color\", \"red\")\\n\\tif all[\"color\"] != \"red\" {\\n\\t\\tt.Error(all)\\n\\t}\\n}\\n' >settings_test.go\n"
	dir := apptest.Make(t, files)
	p := apptest.Open(t, dir)
	for i, s := range picture {
		s.in(t, p, 11+i)
	}
	v := visits(t, dir, access.User{Name: "ada", Role: access.Approver})
	b := newBrowser(t)
	for _, of := range []struct {
		name, path, theme, language string
		width, height               int64
	}{
		{"board", "", "light", "en", 1360, 820}, {"board-dark", "", "dark", "en", 1360, 820}, {"run", "runs/14", "light", "en", 1360, 1000}, {"run-dark", "runs/12", "dark", "en", 1360, 900},
		{"cost", "cost", "light", "en", 1360, 420},
		{"board-phone-ja", "", "light", "ja", 400, 860}, {"run-phone-ja", "runs/13", "dark", "ja", 400, 860},
		{"diff", "runs/7/diff", "light", "en", 1360, 760}, {"diff-dark", "runs/7/diff", "dark", "en", 1360, 760}, {"diff-phone-ja", "runs/7/diff?view=unified", "light", "ja", 400, 860},
		{"health", "health", "light", "en", 1360, 420},
	} {
		if of.name == "diff" {
			waits(t, p)
			for _, fact := range []health.Fact{{Kind: health.FactErrorDetected, ErrorID: "lint-31af", Summary: "settings.go: an error isn't checked"}, {Kind: health.FactFixAttempted}, {Kind: health.FactFixSucceeded}, {Kind: health.FactHealthy}} {
				if _, err := healing.Record(t.Context(), apptest.Opener(dir), fact); err != nil {
					t.Fatal(err)
				}
			}
		}
		theme := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: of.theme}}
		if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: theme}); err != nil {
			t.Fatal(err)
		}
		b.does(chromedp.EmulateViewport(of.width, of.height), chromedp.Navigate(v.at+"/p/demo/"))
		b.does(run(fmt.Sprintf(`document.cookie = "signalbox-language=%s; path=/"`, of.language)), chromedp.Navigate(v.at+"/p/demo/"+of.path))
		b.sees(`document.querySelector(".link")?.textContent !== ""`)
		data, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(filepath.Join(*pictures, "web-"+of.name+".png"), data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// in writes the run's documents.
func (s shown) in(t *testing.T, p *app.App, number int) {
	began := time.Now().UTC().Add(-time.Duration(40-2*number+11) * time.Minute)
	id := fmt.Sprintf("RQ-20261126-%03d", number)
	r := workflow.New(workflow.Start{RequestID: id, RunID: fmt.Sprintf("20261126-0911%02d-c0ffee", number), Number: number, Title: s.title, Branch: "signalbox/" + fmt.Sprint(number), Base: "main",
		Settings: workflow.Settings{Workflow: "full", Phases: []workflow.StepName{"design-read", "design-check", "tdd-red", "review-request"}, HasPlanner: true, HasReviewer: true, Tests: []string{"go test ./..."}}}, began)
	if err := p.Store.CreateRun(t.Context(), &r); err != nil {
		t.Fatal(err)
	}
	if s.state == workflow.Running || s.state == workflow.Queued {
		lock, err := p.Store.LockRequest(t.Context(), id, engine.Owner{Name: "run"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = lock.Release() })
	}
	states := []workflow.State{workflow.Running, s.state}
	if s.state == workflow.Running || s.state == workflow.Queued {
		states = states[1:]
	}
	for _, state := range states {
		save(t, p, &r, func(r *workflow.Run) {
			r.State, r.Progress.Message, r.Details.Phase, r.Details.StepName, r.Stage = state, s.said, s.phase, s.phase.Step(), s.phase.Position().Stage
			r.Progress.Percent = int(s.phase) * 100 / 15
			r.UpdatedAt = began.Add(time.Duration(number%7) * 97 * time.Second)
			if state.Ended() {
				r.EndedAt = &r.UpdatedAt
			}
			for i := range r.Details.Phases {
				ph := &r.Details.Phases[i]
				from := began.Add(time.Duration(i) * 31 * time.Second)
				to := from.Add(time.Duration(7+i*9) * time.Second)
				switch {
				case ph.Status == workflow.StepSkipped:
				case ph.Phase < s.phase || state == workflow.Done:
					ph.Status, ph.StartedAt, ph.EndedAt = workflow.StepDone, &from, &to
				case ph.Phase == s.phase:
					ph.Status, ph.StartedAt = map[workflow.State]workflow.StepStatus{workflow.Running: workflow.StepRunning, workflow.Failed: workflow.StepFailed, workflow.NeedsInput: workflow.StepNeedsInput}[state], &from
				}
			}
			r.Details.Head, r.Details.Isolation, r.Details.EnvID = fmt.Sprintf("6f1c2ab9d0e84f7a3b5c6d7e8f9a0b1c2d3e4f%02d", number), "bubblewrap", r.EnvironmentID()
			r.Details.Spent = workflow.Usage{InputTokens: 184_220, CachedTokens: 161_004, OutputTokens: 9_312, CostMicroUSD: 412_000}
			r.Details.Days = []workflow.Day{{Date: began.Format(time.DateOnly), Usage: r.Details.Spent, Calls: 2}}
			r.Details.Assistants = []workflow.Assistant{{Role: workflow.Implementer, Agent: "claude", Program: "Claude Code"}}
			r.Counters.ImplementerCalls, r.Counters.UnitRuns = 2, 3
			r.Details.SetUp = &workflow.SetUp{Name: "go", Commands: []string{"go mod download"}, Source: workflow.SetUpByDetection, Status: workflow.SetUpSucceeded, Warm: true, Fingerprint: "b71fb7be0d4fd789", Ran: []workflow.CommandRun{{Command: "go mod download", DurationMS: 812}}}
			for i, passed := range []bool{true, false, true} {
				r.Details.Evidence = append(r.Details.Evidence, workflow.Evidence{Purpose: "unit", Commit: fmt.Sprintf("%d3a9e1f07b22c4d5", i), Tree: fmt.Sprintf("%d0b4f5c6a7d8e9f0", i), Command: "go test ./...", Passed: passed, DurationMS: 4120, At: began.Add(time.Duration(i) * time.Minute)})
			}
			r.Steps = nil
			for i, title := range []string{"Show what is missing", "Format by locale"} {
				step := workflow.Step{StepID: fmt.Sprintf("S%02d", i+1), Title: title, Role: workflow.Implementer, Status: []workflow.StepStatus{workflow.StepDone, workflow.StepRunning}[i], Attempt: 1 + i, Phase: "tdd-green", Summary: []string{"A test that fails without it.", ""}[i], DiffStat: workflow.DiffStat{FilesChanged: 2, LinesAdded: 31, LinesDeleted: 4}}
				step.Test.Unit.Status = []workflow.TestStatus{workflow.TestPass, workflow.TestNotRun}[i]
				r.Steps = append(r.Steps, step)
			}
			if s.change != nil && state == s.state {
				s.change(r)
			}
		})
	}
	name := "implementer.S02.1.log"
	log, _, err := p.Store.CreateLog(workflow.RefOf(&r), name)
	if err != nil {
		t.Fatal(err)
	}
	_ = log.Close()
	transcript, err := p.Store.CreateTranscript(workflow.RefOf(&r), name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = transcript.Close() }()
	for i, e := range slices.Concat([]agent.Entry{{Kind: agent.Began, Program: "Claude Code", Model: "sonnet"}, {Kind: agent.Said, Text: "The amounts are formatted in one place, money.Format. I'll make it take the reader's locale and keep the callers as they are."},
		{Kind: agent.ToolCalled, Tool: "Read", Text: "internal/money/format.go"}, {Kind: agent.ToolReturned, Text: "package money"}, {Kind: agent.ToolCalled, Tool: "Edit", Text: "internal/money/format.go"}, {Kind: agent.ToolReturned, Text: "ok"},
		{Kind: agent.ToolCalled, Tool: "Bash", Text: "go test ./internal/money"}, {Kind: agent.ToolReturned, Text: "--- FAIL: TestYen\n    want ¥1,200, got ¥1200", Failed: true}, {Kind: agent.Said, Text: "Yen have no decimals; the separator is missing. I'll use the locale's own grouping."}}) {
		e.Time = began.Add(time.Duration(i) * 9 * time.Second)
		data, err := json.Marshal(e)
		if err == nil {
			_, err = transcript.Write(append(data, '\n'))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
