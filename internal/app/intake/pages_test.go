package intake_test

import (
	"context"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"signalbox/internal/engine"
	"signalbox/internal/forge"
	"signalbox/internal/forge/forgetest"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/language"
	"signalbox/internal/perform/announce"
	"signalbox/internal/perform/report"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// pages is a forge that keeps what we write on it: bodies, and titles and names, which have one line.
type pages struct {
	*world
	bodies, lines []string
}

func (p *pages) CreateRemark(ctx context.Context, on forge.Subject, body string) (forge.Remark, error) {
	p.bodies = append(p.bodies, body)
	return p.world.CreateRemark(ctx, on, body)
}

func (p *pages) EditRemark(ctx context.Context, on forge.Subject, id int64, body string) error {
	p.bodies = append(p.bodies, body)
	return p.world.EditRemark(ctx, on, id, body)
}

func (p *pages) ProposalOf(context.Context, string, string) (forge.Proposal, error) {
	return forge.Proposal{}, forge.ErrNotFound
}

func (p *pages) Propose(_ context.Context, wanted forge.Proposal) (forge.Proposal, error) {
	p.bodies, p.lines = append(p.bodies, wanted.Body), append(p.lines, wanted.Title)
	wanted.Number, wanted.State, wanted.Page = 7, forge.Open, "https://forge.example/pull/7"
	return wanted, nil
}

func (p *pages) Publish(_ context.Context, _ string, v forge.Verdict) error {
	p.lines = append(p.lines, v.Name, v.Summary)
	return nil
}

func (p *pages) Label(_ context.Context, _ forge.Subject, add, remove []string) error {
	p.lines = append(append(p.lines, add...), remove...)
	return nil
}

func (p *pages) Threads(context.Context, int) ([]forge.Thread, error) {
	return []forge.Thread{{ID: "t", Path: "a", Line: 1, Remarks: []forge.Remark{{ID: 1, Author: "grace", Body: "x"}}}}, nil
}

func (p *pages) Answer(_ context.Context, _ int, _ forge.Thread, body string, _ bool) error {
	p.bodies = append(p.bodies, body)
	return nil
}

// published is the git half of a run whose branch is pushed.
type published struct{ hosted.Git }

func (published) Touched(context.Context, string, string, []string) ([]string, string, error) {
	return nil, "", nil
}

func (published) Publish(_ context.Context, pr forge.PullRequest) (forge.PullRequest, error) {
	return pr, nil
}

func (published) OpenPullRequest(_ context.Context, pr forge.PullRequest) (forge.PullRequest, error) {
	pr.State = forge.Open
	return pr, nil
}

func (published) PullRequest(context.Context, int) (forge.PullRequest, error) {
	return forge.PullRequest{Number: 7, Head: head, State: forge.Open}, nil
}

func (published) PullRequestOf(context.Context, string) (forge.PullRequest, error) {
	return forge.PullRequest{}, forge.ErrNotFound
}

const head = "1111111111111111111111111111111111111111"

// hostileRuns are runs that have a text wherever others than Signalbox choose it, in each way that people are told of.
func hostileRuns(text string, now time.Time) (runs []workflow.Run) {
	run := workflow.New(workflow.Start{RequestID: "41", RunID: "20261126-120000-abcdef", Number: 41, Title: text, Branch: "signalbox/41-" + text, Base: text,
		Settings: workflow.Settings{Workflow: "full", HasPlanner: true, HasReviewer: true, Limits: workflow.DefaultLimits(), ApproveOnForge: true}}, now)
	run.State = workflow.Running
	patch := text
	run.Steps = []workflow.Step{{StepID: "S01", Title: text, Summary: text, Status: workflow.StepDone, PatchPath: &patch}}
	d := &run.Details
	d.Head, d.EnvID, d.Isolation, d.Fingerprint = head, text, text, strings.Repeat("f", 64)
	d.Phase = workflow.CIWatch
	for i := range d.Phases {
		d.Phases[i].Note = text
	}
	d.Flags = []string{"it changes " + text}
	d.Assistants = []workflow.Assistant{{Role: workflow.Implementer, Agent: text, Program: text, Model: text}, {Role: workflow.Planner, Agent: text}}
	d.Evidence = []workflow.Evidence{{Purpose: "base", Commit: "2", Command: text, Passed: true}, {Purpose: "unit", Commit: head, Command: text, Known: []string{text}}, {Purpose: "check on the forge", Commit: head, Check: text}}
	d.SetUp = &workflow.SetUp{Name: text, Status: workflow.SetUpFailed, Class: workflow.FailureFixable, Errors: []string{text}}
	d.PullRequest = &workflow.PullRequest{Number: 7, URL: text, Head: head, Checked: &workflow.Candidate{Head: head}}
	awaits := run
	awaits.Details.Pending = []workflow.Action{{Kind: workflow.WatchChecks}}
	stopped := run
	stopped.State, stopped.EndedAt = workflow.NeedsInput, &now
	stopped.Error = &workflow.Error{ReasonCode: "CI_FAILED", Title: text, Message: text, Next: []workflow.NextStep{workflow.Advice(text), {Text: text, Program: []string{"git", "diff", text}},
		{Text: text, Verb: workflow.VerbReject, Runs: []string{"41"}, Blank: text}}}
	asks := run
	asks.Details.Question = &workflow.Question{ID: "Q1", Kind: workflow.ChoiceQuestion, Role: workflow.Implementer, Tool: text, Subject: text, Text: text, Options: []string{text, text}, Until: now}
	done := run
	done.State, done.EndedAt, done.Details.MergeCommit = workflow.Done, &now, head
	return []workflow.Run{run, awaits, stopped, asks, done}
}

var (
	codeSpan  = regexp.MustCompile("`[^`\n]*`")
	ourMark   = regexp.MustCompile(`^(<!-- signalbox:[a-z]+=[\w.~%+-]+ -->\n)(<!-- signalbox:data \{[^>\n]*\} -->\n)?`)
	escapes   = regexp.MustCompile(`\\[^\w\s]`)
	htmlTag   = regexp.MustCompile(`<[/!]?[a-zA-Z][^>]*>`)
	ownTags   = regexp.MustCompile(`<(/?(details|summary))>`)
	otherLink = regexp.MustCompile(`!\[|\]\((?:[^h]|http://|https://(?:evil|x)\.)`)
)

// unfenced is what of a text is in no fence; a fence that does not end takes the rest.
func unfenced(text string) string {
	var outside strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
		case fence == "":
			outside.WriteString(line)
		case len(ticks) >= len(fence) && strings.TrimSpace(line) == ticks:
			fence = ""
		}
	}
	return outside.String() + fence
}

// Wherever a run has texts of others, none of them acts, links, hides or draws anything on the pages that we write, and no secret gets there.
func TestTextsOfOthersStayTextsOnThePagesOfAForge(t *testing.T) {
	t.Parallel()
	const secret = "mellon-friend-of-ada-42"
	cleaner := redact.New(map[string]string{"TOKEN": secret})
	dir := scratch(t)
	for n, text := range forgetest.Hostile {
		if left := unfenced(redact.Fenced(text)); left != "" { // as agents are shown it, logs of CI too
			t.Errorf("%.60q leaves its fence: %.200q", text, left)
		}
		p := &pages{world: newWorld()}
		p.issues[41].Title, p.issues[41].Page = text, "https://forge.example/issues/41"
		h := newHistory(t, must(os.MkdirTemp(dir, "")))
		f := hosted.New(hosted.Config{Server: p, Git: published{}, Store: h.store, Fork: hosted.ForkNever, Statuses: true, Labels: true, Clock: func() time.Time { return p.now }})
		spoken := language.English
		if n%2 == 1 {
			spoken = language.Japanese
		}
		for _, run := range hostileRuns(text+" "+secret, p.now) {
			a := announce.New(announce.Config{Forge: f, Language: spoken, Redact: cleaner, Logger: slog.New(slog.DiscardHandler),
				Clock: engine.Clock{Now: func() time.Time { return p.now }, After: time.After}})
			if err := a.Tell(t.Context(), run, func(context.Context) (forge.Request, error) { return forge.Request{ID: "41", Number: 41}, nil }); err != nil {
				t.Fatalf("%.60q: %v", text, err)
			}
			if _, err := f.OpenPullRequest(t.Context(), forge.PullRequest{Key: run.RunID, Request: "41", Title: cleaner.String(run.Title), Body: cleaner.Text(report.Offer(&run)),
				Branch: run.Details.Branch, Base: run.Details.Base, Head: head}); err != nil {
				t.Fatalf("%.60q: %v", text, err)
			}
		}
		if len(p.bodies) < 12 || len(p.lines) < 10 {
			t.Fatalf("only %d texts and %d lines were written", len(p.bodies), len(p.lines))
		}
		for _, body := range p.bodies {
			shown := ourMark.ReplaceAllString(body, "")
			outside := codeSpan.ReplaceAllString(escapes.ReplaceAllString(unfenced(shown), ""), "code")
			tags := htmlTag.FindString(ownTags.ReplaceAllString(outside, ""))
			if shown == body || strings.Contains(outside, "<!--") || strings.Contains(outside, "````") || tags != "" || otherLink.MatchString(outside) ||
				strings.Count(outside, "<details>") != strings.Count(outside, "</details>") || strings.Count(outside, "<details>") > 1 ||
				forgetest.Acts(shown) != "" || forgetest.Deceives(shown) || strings.Contains(body, secret) || len(body) > 65_536 {
				t.Errorf("%.60q acts by %q, or %q %q, in\n%.3000s", text, forgetest.Acts(shown), tags, otherLink.FindString(outside), outside)
				break
			}
		}
		for _, line := range p.lines {
			if strings.ContainsAny(line, "\n\t") || forgetest.Acts(line) != "" || forgetest.Deceives(line) || strings.Contains(line, secret) || len(line) > 1000 {
				t.Errorf("%.60q is in the line %.200q", text, line)
			}
		}
	}
}
