package display

import (
	"strings"
	"time"

	"signalbox/internal/app/transcript"
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
	for line := range strings.Lines(transcript.FirstLines(text, 40)) {
		a.Print("  %s\n", strings.TrimRight(line, "\n"))
	}
	for i, option := range q.Options {
		a.Print("  %d. %s\n", i+1, redact.Line(option, 300))
	}
	if q.Altered {
		a.Print("  %s\n", a.Paint(command.Yellow, "not all of it is shown: it is longer, or holds what must not be"))
	}
	a.Print("%s\n", a.Paint(command.Bold, "What to do:"))
	say := "signalbox answer " + r.Ref()
	switch {
	case q.Kind == workflow.ChoiceQuestion:
		a.Print("  %s --option 1\n  %[1]s \"something else\"\n", say)
	case q.Kind == workflow.TextQuestion:
		a.Print("  %s \"your answer\"\n", say)
	default:
		a.Print("  %s --allow\n", say)
		if q.Always != "" {
			a.Print("  %s --always   (allows %s until the run ends)\n", say, redact.Line(q.Always, 200))
		}
	}
	a.Print("  %s --deny \"why\"\n", say)
}

var asksFor = map[workflow.QuestionKind]string{workflow.PermissionQuestion: "wants to use a tool", workflow.ChoiceQuestion: "lets you choose",
	workflow.TextQuestion: "wants to know"}
