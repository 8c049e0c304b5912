// Package display shows runs: the progress of those under way, where one is and why it stopped, what its agent asks and
// said, and its logs. It decides nothing.
package display

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// PrintRun prints what a person needs to know about a run: first its state, why it stopped and what to do, then the rest.
func PrintRun(ctx context.Context, p *command.Project, r *workflow.Run, holder store.LockRecord, held bool) {
	interrupted := r.UnderWay() && !held
	p.Print("%s %s\n", p.Paint(command.Bold, "#"+r.Ref()), redact.Line(r.Title, 200))
	state := stateOf(p.Invocation, r)
	if interrupted {
		state = p.Paint(command.Yellow, Interrupted) + " (no process runs it)"
	}
	p.Print("  %-9s %s, phase %d %s, %d%%\n", "state", state, r.Details.Phase, r.Details.Phase, r.Progress.Percent)
	does := commandline.Doing(r)
	if interrupted && r.Details.Question != nil {
		does = "asked something when it was cut off: " + r.Details.Question.Line1() // no one can answer it now
	}
	p.Print("  %-9s %s\n", "now", redact.Line(does, 300))
	printNext(ctx, p, r, holder, held)
	printDetails(ctx, p, r)
	printPhases(p, r)

	// The published status file has no word for a run that waits for a person.
	why, status := "", registry.IssueStatusOf(r)
	if written, err := p.Store.IssueStatus(status.Issue).Load(ctx); err == nil {
		status = written // perhaps by a session, after the run
	}
	switch cutOff := registry.CutOff(r, status, commandline.Line); {
	case !held && cutOff.Status != status.Status:
		why, status = `; the file still says "running", because its process died`, cutOff
	case r.State == workflow.NeedsInput && status.Status == registry.IssueError:
		why = `; "error" is its word for a run that needs you`
	}
	p.Print("\n%s\n", p.Paint(command.Faint, fmt.Sprintf("For programs that wait for it (.worktrees/.status/%d.json)%s", r.Details.Number, why)))
	PrintIssueStatus(p.Invocation, status)
}

// printNext says why the run stopped, if it did, and what to type.
func printNext(ctx context.Context, p *command.Project, r *workflow.Run, holder store.LockRecord, held bool) {
	if name, ok := strings.CutPrefix(holder.Owner, app.SessionOwner); ok {
		p.Print("\n%s %s works in its environment\n  follow it: signalbox session watch %s; end it: signalbox session stop %s\n", p.Paint(command.Yellow, "Meanwhile:"), name, r.Ref(), r.Ref())
		_, info := p.SessionOf(ctx, r)
		if asked := app.AskedBy(info); asked != nil {
			asking := *r
			asking.Details.Question = asked
			PrintQuestion(p.Invocation, &asking)
		}
	} else {
		printStop(p, r)
	}
	if r.Details.Question != nil && held {
		PrintQuestion(p.Invocation, r)
	}
	switch until := r.Details.ParkedUntil; {
	case until != nil && r.Watches():
		printAwaits(p.Invocation, r, held)
	case until != nil && r.State == workflow.Queued && held:
		p.Print("\n%s\n  nothing: it continues by itself at %s\n  or at once: %s\n", p.Paint(command.Bold, "What to do:"), commandline.When(*until), commandline.For(r, workflow.VerbResume))
	}
	if r.UnderWay() && !held {
		p.Print("\n%s the process that worked on this run is gone.\n  continue: %s\n", p.Paint(command.Yellow, "Interrupted:"), commandline.For(r, workflow.VerbResume))
	}
}

// printAwaits says what people do on the forge for whom a parked run waits, and how they do it here, if that counts.
func printAwaits(a *command.Invocation, r *workflow.Run, held bool) {
	awaits := r.Awaits()
	if !awaits.People() { // of an earlier version
		return
	}
	page := ""
	if pr := r.Details.PullRequest; pr != nil {
		page = ": " + redact.Line(cmp.Or(pr.URL, fmt.Sprint(pr.Number)), 300)
	}
	a.Print("\n%s\n  %s on the forge%s\n", a.Paint(command.Bold, "What to do:"), awaits.Do(), page)
	if !awaits.Required {
		a.Print("  or here: %s; or send it back: %s TEXT\n", commandline.For(r, workflow.VerbApprove), commandline.For(r, workflow.VerbReject))
	}
	if held {
		a.Print("  it looks again at %s; at once: %s\n", commandline.When(*r.Details.ParkedUntil), commandline.For(r, workflow.VerbResume))
	}
}

func printDetails(ctx context.Context, p *command.Project, r *workflow.Run) {
	p.Print("\nDetails\n  %-9s %s\n", "elapsed", elapsed(p.Invocation, r))
	if spent := r.SpentSoFar().String(); spent != "" {
		p.Print("  %-9s %s\n", "used", spent)
	}
	p.Print("  %-9s %s\n", "run", store.RunDir(workflow.RefOf(r)))
	if r.Details.Head != "" && r.Details.Head != r.Details.BaseCommit {
		p.Print("  %-9s %.10s on %s, into %s; see it: signalbox diff %s\n", "change", r.Details.Head, r.Details.Branch, redact.Line(r.Details.Base, 100), r.Ref())
	}
	if s := r.Details.SetUp; s != nil {
		p.Print("  %-9s %s\n", "setup", redact.Line(setUpLine(r), 300))
		printSetUpNotes(p, r)
	}
	printUnsandboxed(p.Invocation, r)
	if r.Signals.Notes != nil {
		p.Print("  %-9s %s\n", "note", redact.Line(*r.Signals.Notes, 300))
	}
	printSavedWork(p.Invocation, r)
	_, info := p.SessionOf(ctx, r) // whose work is in the run's environment
	if info == nil || r.State.Final() {
		return
	}
	p.Print("  %-9s %s\n", "session", redact.Line(app.CameTo(info), 300))
	p.Print("            what it printed: signalbox session logs %s; its files: signalbox env exec %s -- git status\n", r.Ref(), r.Ref())
	if info.EndedAt != nil && !app.WaitsForApproval(r) { // until then it is refused
		p.Print("            put them on a ref and remove the session: signalbox session cleanup %s\n", r.Ref())
	}
}

func printUnsandboxed(a *command.Invocation, r *workflow.Run) {
	if r.Details.Isolation == workflow.IsolationNone {
		a.Print("  %-9s %s\n", "warning", a.Paint(command.Yellow, "unsandboxed: commands of this run were not isolated from this machine"))
	}
}

// printSavedWork names work that a person may miss: it was in the environment, and isn't part of the change.
func printSavedWork(a *command.Invocation, r *workflow.Run) {
	for _, move := range r.Details.Moves {
		a.Print("  %-9s %s\n", "branch", redact.Line(move.String(), 300))
	}
	for _, ref := range r.Details.SavedWork {
		a.Print("  %-9s work that was in its environment when it continued\n", "saved")
		PrintRef(a, "            ", ref)
	}
	if r.State == workflow.Canceled && r.Details.KeptRef != "" {
		a.Print("  %-9s its work\n", "kept")
		PrintRef(a, "            ", r.Details.KeptRef)
	}
}

// PrintRef says how to get the work on a ref. A ref's name is long, so each command has its line.
func PrintRef(a *command.Invocation, indent, ref string) {
	a.Print("%[1]ssee it: git show %[2]s\n%[1]stake it over: git merge %[2]s\n", indent, ref)
}

// printSetUpNotes prints the warnings about the setup.
func printSetUpNotes(p *command.Project, r *workflow.Run) {
	for _, note := range r.Details.Warnings() {
		p.Print("  %-9s %s\n", "warning", p.Paint(command.Yellow, redact.Line(note, 800)))
	}
}

// setUpLine says how the setup ended, or how far it is.
func setUpLine(r *workflow.Run) string {
	s, at := r.Details.SetUp, registry.SetUpOf(r)
	switch {
	case s.Status == workflow.SetUpFailed:
		class := string(s.Class)
		if s.Class == workflow.FailureFixable && r.Details.Settings.NoRepairer {
			class += ", but no agent is configured as repairer"
		}
		return fmt.Sprintf("%s failed (%s); the work continues without it; see: signalbox env logs %s", s.Name, class, r.Ref())
	case s.Status != "" && s.Warm:
		return s.Name + " begun from a cached environment and verified"
	case s.Status != "" && len(s.Verification) == 0:
		return s.Name + " set up; nothing says how to verify it (environment.verify)"
	case s.Status != "":
		return s.Name + " set up and verified"
	case at == nil:
		return s.Name + " not set up yet"
	}
	line := fmt.Sprintf("%s, command %d of %d", s.Name, at.Command, at.Commands)
	if at.Verification > 0 {
		line = fmt.Sprintf("%s, verification %d of %d", s.Name, at.Verification, at.Verifications)
	}
	if at.RetryAt != nil {
		line += fmt.Sprintf(", again in %s", max(0, time.Until(*at.RetryAt)).Round(time.Second))
	}
	if at.Repair > 0 {
		line += fmt.Sprintf(", correction %d of %d", at.Repair, at.Repairs)
	}
	return line
}

// Interrupted is the label of a run that has no process.
const Interrupted = "Interrupted"

// stateOf is the label of a run's state.
func stateOf(a *command.Invocation, r *workflow.Run) string {
	if r.Interrupted() {
		return a.Paint(command.Yellow, Interrupted)
	}
	return State(a, r.State)
}

// State is a state's label in its colour.
func State(a *command.Invocation, s workflow.State) string {
	code := map[workflow.State]string{workflow.Done: command.Green, workflow.Failed: command.Red, workflow.NeedsInput: command.Yellow}[s]
	if code == "" {
		return Label(a, s)
	}
	return a.Paint(code, Label(a, s))
}

// Label is a state's label in the language of the terminal's messages.
func Label(a *command.Invocation, s workflow.State) string {
	locale := cmp.Or(a.Opener.Env("LC_ALL"), a.Opener.Env("LC_MESSAGES"), a.Opener.Env("LANG"))
	language, _, _ := strings.Cut(locale, "_")
	return s.LabelIn(language)
}

func elapsed(a *command.Invocation, r *workflow.Run) string {
	end := time.Now()
	if r.EndedAt != nil {
		end = *r.EndedAt
	}
	return max(0, end.Sub(r.StartedAt)).Round(time.Second / 10).String()
}

var marks = map[workflow.StepStatus]string{workflow.StepDone: "✓", workflow.StepRunning: "▶", workflow.StepSkipped: "–",
	workflow.StepFailed: "✗", workflow.StepNeedsInput: "!", workflow.StepPending: " "}

// printPhases prints the phases of the run's workflow; skipped ones share a line for each reason. Its steps and
// findings follow.
func printPhases(p *command.Project, r *workflow.Run) {
	p.Print("\nPhases\n")
	var reasons []string
	skipped := map[string][]string{}
	for _, record := range r.Details.Phases {
		note := strings.TrimRight(redact.Line(record.Note, 120), " ")
		if record.Status != workflow.StepSkipped {
			p.Print("  %s %2d %-15s %s\n", marks[record.Status], record.Phase, record.Step, p.Paint(command.Faint, note))
			continue
		}
		if skipped[note] == nil {
			reasons = append(reasons, note)
		}
		skipped[note] = append(skipped[note], string(record.Step))
	}
	for _, reason := range reasons {
		p.Print("  %s  %s\n", marks[workflow.StepSkipped], p.Paint(command.Faint, strings.Join(skipped[reason], ", ")+": "+reason))
	}
	if len(r.Steps) > 0 {
		p.Print("\nSteps\n")
	}
	for _, s := range r.Steps {
		p.Print("  %s %s %s", marks[s.Status], s.StepID, redact.Line(s.Title, 80))
		if s.PatchPath != nil {
			p.Print("  (%s, +%d −%d; tests %s)", commandline.Count(s.DiffStat.FilesChanged, "file"), s.DiffStat.LinesAdded, s.DiffStat.LinesDeleted,
				strings.ToLower(s.Test.Words()))
		} else if s.Status == workflow.StepDone {
			p.Print("  (nothing was left to do; tests %s)", strings.ToLower(s.Test.Words()))
		}
		p.Print("\n")
	}
	for _, f := range r.Details.Findings {
		p.Print("  ! %s (%s)\n", redact.Line(f.Line1(), 200), f.Source)
	}
}

// printStop says why a run stopped and what to type.
func printStop(p *command.Project, r *workflow.Run) {
	e := r.Error
	if e == nil {
		return
	}
	p.Print("\n%s %s (%s)\n", p.Paint(command.Yellow, "Why it stopped:"), redact.Line(e.Title, 200), e.ReasonCode)
	for line := range strings.Lines(redact.Clean(e.Message)) {
		p.Print("  %s\n", strings.TrimRight(line, "\n"))
	}
	if r.Details.SentBack() && !app.WaitsForApproval(r) { // the question for approval says it itself
		p.Print("  %s\n", redact.Line(r.Details.Rejection.String(), 800))
	}
	p.Print("%s\n", p.Paint(command.Bold, "What to do:"))
	for _, line := range commandline.Lines(e) {
		p.Print("  %s\n", redact.Line(line, 300))
	}
	for _, path := range e.RelatedPaths {
		p.Print("  see %s\n", redact.Line(path, 300))
	}
}

// PrintEnd prints how a run ended or stopped.
func PrintEnd(p *command.Project, r *workflow.Run) {
	switch r.State {
	case workflow.Done:
		p.Print("%s #%s %s\n  merged into %s as %.10s in %s; report: %s\n", p.Paint(command.Green, "Done:"), r.Ref(), redact.Line(r.Title, 100),
			redact.Line(r.Details.Base, 100), r.Details.MergeCommit, elapsed(p.Invocation, r), r.Artifacts.ReportMD)
		printSetUpNotes(p, r)
	case workflow.Canceled:
		p.Print("Canceled: #%s %s\n", r.Ref(), redact.Line(r.Title, 100))
		if r.Details.KeptRef == "" {
			p.Print("  %s\n", redact.Line(r.Progress.Message, 200))
		}
	default:
		p.Print("%s: #%s %s\n", stateOf(p.Invocation, r), r.Ref(), redact.Line(r.Title, 100))
		printStop(p, r)
	}
	printUnsandboxed(p.Invocation, r)
	printSavedWork(p.Invocation, r)
}
