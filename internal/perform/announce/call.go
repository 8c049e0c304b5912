package announce

import (
	"cmp"
	"fmt"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/language"
	"signalbox/internal/workflow"
)

// call is the comment that asks for a person; nil if none is needed. A stop has one, however often it is told: its end is its name.
func (a *Run) call(r *workflow.Run) *forge.PersonCall {
	switch notice := r.Notice(); {
	case r.Awaits().People():
		return &forge.PersonCall{Key: callPrefix + r.RunID + "/" + r.Details.Head + string(r.Awaits().Kind), Body: a.people(r)}
	case notice == workflow.NoticeAsks:
		return &forge.PersonCall{Key: callPrefix + r.RunID + "/" + r.Details.Question.ID, Body: a.question(r)}
	case notice == workflow.NoticeNeeded, notice == workflow.NoticeFailed:
		return &forge.PersonCall{Key: callPrefix + r.RunID + "/" + r.EndedAt.UTC().Format("20060102T150405.000000"), Body: a.stop(r)}
	}
	return nil
}

const callPrefix = "signalbox/call/"

// stop says what happened, and what to do about it.
func (a *Run) stop(r *workflow.Run) string {
	var b strings.Builder
	title := language.NeedsYou
	if r.State == workflow.Failed {
		title = language.HasFailed
	}
	_, _ = fmt.Fprintf(&b, "### %s: %s\n\n", a.Language.Say(title), a.escaped(r.Error.Title))
	if r.Error.Message != "" {
		b.WriteString(a.fenced(r.Error.Message) + "\n\n")
	}
	if len(r.Error.Next) > 0 {
		b.WriteString(a.Language.Say(language.WhatToDo) + "\n\n")
	}
	for _, s := range r.Error.Next {
		b.WriteString("- " + a.step(r, s) + "\n")
	}
	if commit := a.commit(r); commit != "" {
		b.WriteString("\n" + a.Language.Say(language.RowCommit) + ": " + commit + "\n")
	}
	b.WriteString("\n" + a.Language.Say(language.Reason, a.code(r.Error.ReasonCode, maxLine), a.code(r.RunID, maxLine)) + "\n")
	return b.String()
}

// people asks for what only people do on the forge.
func (a *Run) people(r *workflow.Run) string {
	pr := r.Details.PullRequest
	text := fmt.Sprintf("### %s: %s\n\n%s\n\n- %s: %s\n", a.Language.Say(language.NeedsYou), a.awaits(r.Awaits()), a.Language.Say(language.WhatToDo),
		a.Language.AwaitDo(r.Awaits()), cmp.Or(link(pr.URL), fmt.Sprint(pr.Number)))
	if !r.Awaits().Required {
		text += "- " + a.step(r, r.Ask(a.Language.Say(language.OrHere), workflow.VerbApprove)) + "\n"
	}
	if r.AsksForApproval() {
		text += "- " + a.step(r, r.SendBack(a.Language.Say(language.OrSendBack))) + "\n"
	}
	return text
}

// question shows what the agent asks, and how to answer.
func (a *Run) question(r *workflow.Run) string {
	q := r.Details.Question
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "### %s\n\n", a.Language.Say(language.Asks, a.code(q.ID, maxLine)))
	if q.Tool != "" {
		b.WriteString(a.Language.Say(language.MayUse, string(q.Role), a.code(q.Tool, maxLine)) + "\n\n")
	}
	if q.Subject != "" && !strings.Contains(q.Text, q.Subject) {
		b.WriteString(a.fenced(q.Subject) + "\n\n")
	}
	b.WriteString(a.fenced(q.Text) + "\n\n")
	if q.Altered {
		b.WriteString(a.Language.Say(language.Altered) + "\n\n")
	}
	for i, option := range q.Options[:min(len(q.Options), maxRows)] {
		if i == 0 {
			b.WriteString(a.Language.Say(language.Options) + "\n\n")
		}
		_, _ = fmt.Fprintf(&b, "%d. %s\n", i+1, a.code(option, maxLine))
	}
	b.WriteString("\n" + a.Language.Say(language.WhatToDo) + "\n\n")
	for _, way := range answers(q) {
		_, _ = fmt.Fprintf(&b, "- %s: %s, %s %s\n", a.Language.Say(way.text), a.code("signalbox answer "+r.Ref()+" "+way.flag, maxLine), a.Language.Say(language.Here),
			a.code("/signalbox answer "+way.word, maxLine))
	}
	b.WriteString("\n" + a.Language.Say(language.Until, at(q.Until)) + "\n")
	return b.String()
}

// way is one way to answer a question: as a command, and as a comment.
type way struct {
	text       language.Key
	flag, word string
}

func answers(q *workflow.Question) (ways []way) {
	switch q.Kind {
	case workflow.PermissionQuestion:
		ways = append(ways, way{language.AnswerAllow, "--allow", "allow"})
	case workflow.ChoiceQuestion:
		ways = append(ways, way{language.AnswerOption, "--option 1", "1"}, way{language.AnswerText, `"…"`, "…"})
	default:
		ways = append(ways, way{language.AnswerText, `"…"`, "…"})
	}
	return append(ways, way{language.AnswerDeny, `--deny "…"`, "deny …"})
}

// SetUpComment is the comment on a setup that failed for good, in the configured language. english is how the run's document has it.
func (a *Run) SetUpComment(r *workflow.Run, english string) string {
	s := r.Details.SetUp
	if a.Language != language.Japanese || s == nil {
		return english
	}
	return a.Redact.String(a.Language.Say(language.SetupComment, a.code(s.Name, maxLine), a.fenced(s.LastError()), s.NetworkRetries, r.Details.Used.SetUpRepairs,
		r.Details.Settings.Limits.SetUpRepairs, a.code(string(s.Class), maxLine)))
}
