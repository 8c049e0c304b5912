package display

import (
	"strings"
	"time"

	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// PrintQuestion shows what an agent asks, and what to type.
func PrintQuestion(a *command.Invocation, r *workflow.Run) {
	q := r.Details.Question
	a.Print("\n%s the %s %s (%s); at %s it counts as denied, %s from now\n", a.Paint(command.Yellow, "It asks:"), q.Role, asksFor[q.Kind], q.ID,
		commandline.When(q.Until), max(0, time.Until(q.Until)).Round(time.Second))
	text := redact.Clean(q.Text)
	if q.Tool != "" {
		text = redact.Line(q.Tool, 100) + ": " + text
	}
	for line := range strings.Lines(firstLines(text, 40)) {
		a.Print("  %s\n", strings.TrimRight(line, "\n"))
	}
	for i, option := range q.Options {
		a.Print("  %d. %s\n", i+1, redact.Line(option, 300))
	}
	if q.Altered {
		a.Print("  %s\n", a.Paint(command.Yellow, "not all of it is shown: it is longer, or holds what must not be"))
	}
	a.Print("%s\n", a.Paint(command.Bold, "What to do:"))
	for _, action := range answers(r) {
		a.Print("  %s\n", action)
	}
}

var asksFor = map[workflow.QuestionKind]string{workflow.PermissionQuestion: "wants to use a tool", workflow.ChoiceQuestion: "lets you choose",
	workflow.TextQuestion: "wants to know"}

// answers are the commands that answer a run's question.
func answers(r *workflow.Run) (commands []string) {
	say := "signalbox answer " + r.Ref()
	q := r.Details.Question
	switch q.Kind {
	case workflow.ChoiceQuestion:
		commands = []string{say + " --option 1", say + ` "something else"`}
	case workflow.TextQuestion:
		commands = []string{say + ` "your answer"`}
	default:
		commands = []string{say + " --allow"}
		if q.Always != "" {
			commands = append(commands, say+" --always   (allows "+redact.Line(q.Always, 200)+" until the run ends)")
		}
	}
	return append(commands, say+` --deny "why"`)
}
