package perform

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"fmt"
	"slices"
	"sync"
	"text/template"

	"signalbox/internal/forge"
	"signalbox/internal/place"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

//go:embed prompts/*.md
var promptFiles embed.FS

var prompts = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("prompts").Funcs(template.FuncMap{"quote": redact.Fenced}).ParseFS(promptFiles, "prompts/*.md"))
})

// PromptTemplate parses a project's own prompt for a role, which replaces ours. It may include ours:
// {{template "planner.md" .}}, {{template "request" .}}.
func PromptTemplate(role workflow.Role, text string) (*template.Template, error) {
	base, err := prompts().Clone()
	if err != nil {
		return nil, err
	}
	t, err := base.New("project").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read prompt for %s: %w", role, err)
	}
	return t, nil
}

// promptRun is a run in a project's templates.
type promptRun struct{ workflow.Run }

// Journey returns the details by their earlier name, which templates of projects may use.
func (r promptRun) Journey() workflow.Details { return r.Details }

// briefing is the data of the prompts. Everything in it may be untrusted text; quote marks it as such.
type briefing struct {
	Run       promptRun
	Request   forge.Request
	Action    workflow.Action
	Step      workflow.PlannedStep
	Phase     string
	Documents []document
	Findings  []workflow.Finding
	// Said is what a person said when they sent the change back, except what Findings have.
	Said  []string
	SetUp *workflow.SetUp
	// HandOver is the result of the setup; Detection comes from the project's files.
	HandOver  workflow.HandOver
	Detection *workflow.Detection
	Diff      string
	// Flags are the reasons why a person has to look at the change.
	Flags []string
	// FailedBefore are the tests that failed before anything was changed.
	FailedBefore []string
	Tests        []string
	// Again: the agent resumes its conversation about this request.
	Again bool
}

// prompt is the whole instruction for a call.
func (x *execution) prompt(ctx context.Context, a workflow.Action) (string, error) {
	request, err := x.theRequest(ctx)
	if err != nil {
		return "", err
	}
	b := briefing{Run: promptRun{x.run}, Request: request, Action: a, Phase: string(x.run.Details.Phase.Step()),
		Findings: x.run.Details.Findings, SetUp: x.run.Details.SetUp, HandOver: x.run.Details.HandOver(), Detection: x.run.Details.Detection, FailedBefore: x.run.Details.FailedBefore(), Tests: x.run.Details.Settings.AllTestNames()}
	if r := x.run.Details.Rejection; r != nil {
		b.Said = slices.DeleteFunc(append(slices.Clone(r.Earlier), r.Reason), func(said string) bool {
			return slices.ContainsFunc(b.Findings, func(f workflow.Finding) bool { return f.Source == workflow.FoundByPerson && f.Text == said })
		})
	}
	if program := x.agents[a.Role]; program != nil {
		b.Again = x.conversation(a.Role, program.Name()) != nil
	}
	switch a.Role {
	case workflow.Planner:
		b.Documents, err = x.design(ctx)
	case workflow.Implementer:
		if x.run.Artifacts.PlanningJSON == nil {
			break
		}
		plan, loadErr := x.Artifacts.LoadPlan(ctx, workflow.RefOf(&x.run))
		if loadErr != nil {
			return "", fmt.Errorf("read plan: %w", loadErr)
		}
		if i := slices.IndexFunc(plan.Actions.Steps, func(s workflow.PlannedStep) bool { return s.StepID == a.StepID }); i >= 0 {
			b.Step = plan.Actions.Steps[i] // a fix after a review has none
		}
	case workflow.Reviewer:
		b.Flags = x.run.Details.Flags
		diff, from := limited{left: diffLimit}, ""
		if from, err = place.Before(ctx, x.Repo, &x.run, x.run.Details.Head); err == nil {
			err = x.Repo.Patch(ctx, from, x.run.Details.Head, &diff)
		}
		if b.Diff = diff.String(); diff.cut {
			b.Diff += "\n(cut here: see the rest with git diff in the working directory)\n"
		}
	}
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	written := cmp.Or(x.Prompts[a.Role], prompts().Lookup(string(a.Role)+".md")) // the project's prompt or ours
	if err := written.Execute(&text, b); err != nil {
		return "", fmt.Errorf("write prompt for %s: %w", a.Role, err)
	}
	return x.Redact.String(text.String()), nil
}

// diffLimit is how much of a change the reviewer's prompt shows, in bytes. All of it is in the working directory's history.
const diffLimit = 200 << 10

// limited keeps the first bytes written to it.
type limited struct {
	bytes.Buffer
	left int
	cut  bool
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	l.cut = l.cut || n < len(p)
	_, err := l.Buffer.Write(p[:n])
	return len(p), err
}
