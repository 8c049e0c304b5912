package announce

import (
	"cmp"
	"fmt"
	"strings"

	"signalbox/internal/commandline"
	"signalbox/internal/language"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// progress is the comment that is edited in place. Its first line is all that a list of comments shows of it.
func (a *Run) progress(r *workflow.Run) string {
	var b strings.Builder
	b.WriteString(a.headline(r) + "\n\n")
	marks := map[string]string{registry.PhasePending: "[ ]", registry.PhaseActive: "[ ] ▶", registry.PhaseCompleted: "[x]", registry.PhaseSkipped: "[x]",
		registry.PhaseFailed: "[ ] ⚠"}
	for _, p := range registry.PhasesOf(r) {
		title := a.Language.Progress(p.Phase, p.Title)
		switch p.Status {
		case registry.PhaseActive:
			title = "**" + title + "**"
		case registry.PhaseSkipped:
			title = a.Language.Say(language.PhaseSkipped, title)
		case registry.PhaseFailed:
			title = a.Language.Say(language.PhaseFailed, title)
		}
		b.WriteString("- " + marks[p.Status] + " " + title + "\n")
	}
	b.WriteString("\n")
	head := "|:--|:--|\n" // the first row is the table's head: an empty one would be seen
	for _, row := range a.rows(r) {
		if row.value != "" {
			b.WriteString("| " + a.Language.Say(row.title) + " | " + cell(row.value) + " |\n" + head)
			head = ""
		}
	}
	b.WriteString("\n<details><summary>" + a.Language.Say(language.History) + "</summary>\n\n" + a.history(r) + "\n</details>\n")
	return b.String()
}

// headline is the state, what to do, and the command for it.
func (a *Run) headline(r *workflow.Run) string {
	shown := r.State
	if r.Awaits().People() { // it is queued until its next look, which is nothing to people
		shown = workflow.NeedsInput
	}
	state := "**" + a.Language.State(shown) + "** · "
	switch q := r.Details.Question; {
	case q != nil:
		return state + a.Language.Say(language.Waiting, a.code(q.ID, maxLine)) + ": " + a.code("signalbox answer "+r.Ref(), maxLine) + ", " +
			a.Language.Say(language.Here) + " " + a.code("/signalbox answer …", maxLine)
	case r.Error != nil:
		said := state + a.escaped(r.Error.Title)
		if s, ok := foremost(r, r.Error.Next); ok {
			said += " · " + a.step(r, s)
		}
		return said
	case r.Awaits().People() && r.Awaits().Required:
		return state + a.onForge(r)
	case r.Awaits().People():
		return state + a.onForge(r) + ", " + a.step(r, r.Ask(a.Language.Say(language.OrHere), workflow.VerbApprove))
	case r.State.Final():
		return state + a.Language.Say(language.NothingToDo)
	}
	return state + a.Language.Doing(r.Details.Phase) + " · " + a.Language.Say(language.NothingToDo) + " · " + a.Language.Say(language.Follow) + " " + a.code(commandline.For(r, workflow.VerbStatus), maxLine)
}

// awaits says what is waited for, and names those who were asked, without mentioning them.
func (a *Run) awaits(w *workflow.Await) string {
	said := a.Language.Await(w)
	for i, name := range w.Of {
		said += []string{": ", ", "}[min(i, 1)] + a.code(name, maxLine)
	}
	return said
}

// onForge asks for what people do there.
func (a *Run) onForge(r *workflow.Run) string {
	said := a.awaits(r.Awaits()) + " · " + a.Language.AwaitDo(r.Awaits())
	if pr := r.Details.PullRequest; pr != nil {
		said += ": " + cmp.Or(link(pr.URL), fmt.Sprint(pr.Number))
	}
	return said
}

// marks of phases and steps.
var statusMarks = map[workflow.StepStatus]string{workflow.StepPending: "·", workflow.StepRunning: "▶", workflow.StepDone: "✓", workflow.StepSkipped: "–",
	workflow.StepFailed: "✗", workflow.StepNeedsInput: "‖"}

// history is what few people look at: the fifteen phases, the steps and the tests.
func (a *Run) history(r *workflow.Run) string {
	var b strings.Builder
	say := func(key language.Key) string { return a.Language.Say(key) }
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format+"\n", args...) }
	p("| | %s | %s | %s |\n|---|---|---|---|", say(language.ColumnPhase), say(language.ColumnState), say(language.ColumnNote))
	for _, record := range r.Details.Phases {
		p("| %d | %s | %s %s | %s |", record.Phase, record.Step, statusMarks[record.Status], strings.ToLower(string(record.Status)), cell(a.code(record.Note, maxNote)))
	}
	if len(r.Steps) > 0 {
		p("\n| | %s | %s | %s | %s |\n|---|---|---|---|---|", say(language.ColumnStep), say(language.ColumnState), say(language.ColumnChange), say(language.ColumnTest))
	}
	for i := range r.Steps[:min(len(r.Steps), maxRows)] {
		s := &r.Steps[i]
		p("| %s | %s | %s %s | +%d −%d | %s |", a.code(s.StepID, maxNote), cell(a.code(s.Title, maxNote)), statusMarks[s.Status], strings.ToLower(string(s.Status)),
			s.DiffStat.LinesAdded, s.DiffStat.LinesDeleted, strings.ToLower(s.Test.Words()))
	}
	tests := r.Details.Evidence
	if len(tests) == 0 {
		return b.String()
	}
	p("\n| %s | %s | %s |\n|---|---|---|", say(language.ColumnTest), say(language.ColumnCommit), say(language.ColumnResult))
	for _, e := range tests[max(len(tests)-maxRows, 0):] {
		p("| %s | %s | %s |", cell(a.code(cmp.Or(e.Command, e.Check), maxNote)), a.short(e.Commit), cell(a.tested(e)))
	}
	if more := len(tests) - maxRows; more > 0 {
		p("\n%s", a.Language.Say(language.MoreTests, more))
	}
	return b.String()
}
