package announce

import (
	"fmt"
	"strings"
	"time"

	"signalbox/internal/commandline"
	"signalbox/internal/language"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// Limits of the parts of a comment, in characters and lines: all of them together stay below what a forge takes.
const (
	maxLine    = 300
	maxMessage = 4000
	maxNote    = 120
	maxRows    = 40
)

// code shows an untrusted text as one line of code, in which nothing acts. Secrets are removed before anything is cut: a part of one is not known.
func (a *Run) code(text string, limit int) string {
	text = strings.TrimSpace(strings.ReplaceAll(a.Redact.Line(text, limit), "`", "'"))
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// cell is a text for a table, in which a bar ends a column.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// escaped shows a sentence as it is, whatever it quotes.
func (a *Run) escaped(text string) string { return redact.Escaped(a.Redact.Line(text, maxLine)) }

// fenced shows the end of a message, where programs say what went wrong.
func (a *Run) fenced(text string) string {
	text = strings.TrimSpace(a.Redact.Text(text))
	if runes := []rune(text); len(runes) > maxMessage {
		text = "… " + string(runes[len(runes)-maxMessage:])
	}
	return redact.Fenced(text)
}

func at(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }

func (a *Run) short(commit string) string { return a.code(fmt.Sprintf("%.10s", commit), maxLine) }

// ordered are the verbs that people can write in a comment, too.
var ordered = map[workflow.Verb]string{
	workflow.VerbApprove: "approve", workflow.VerbReject: "reject", workflow.VerbResume: "resume", workflow.VerbRetry: "retry", workflow.VerbStop: "stop",
}

// order is a step as people write it in a comment on the request; empty if they can't. It never begins a line: it would be obeyed.
func order(r *workflow.Run, s workflow.NextStep) string {
	word := ordered[s.Verb]
	if word == "" || len(s.Runs) != 1 || s.Runs[0] != r.Ref() || s.Cancel || s.Force || s.Unsandboxed || len(s.Then) > 0 {
		return ""
	}
	what := s.Blank
	if s.Verb == workflow.VerbApprove { // exactly what the comment shows
		what = fmt.Sprintf("%.10s", r.Details.Head)
	}
	return strings.TrimSpace("/signalbox " + word + " " + what)
}

// step says what to do, and the command, and what to write instead.
func (a *Run) step(r *workflow.Run, s workflow.NextStep) string {
	said := a.escaped(a.Language.Step(s))
	if args := commandline.Arguments(s); len(args) > 0 {
		if said != "" {
			said += ": "
		}
		said += a.code(commandline.Quote(args), maxLine)
	}
	if word := order(r, s); word != "" {
		said += ", " + a.Language.Say(language.Here) + " " + a.code(word, maxLine)
	}
	for _, next := range s.Then {
		said += "; " + a.step(r, next)
	}
	return said
}

// foremost is the step that moves the run on.
func foremost(r *workflow.Run, steps []workflow.NextStep) (workflow.NextStep, bool) {
	for _, s := range steps {
		if order(r, s) != "" {
			return s, true
		}
	}
	if len(steps) == 0 {
		return workflow.NextStep{}, false
	}
	return steps[0], true
}
