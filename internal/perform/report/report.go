// Package report describes a run for people, in Markdown and in a merge's message. It fences or cleans text from outside, so that
// it can't pass for ours.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// Of returns report.md.
func Of(r *workflow.Run) string {
	j := &r.Details
	var b strings.Builder
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format+"\n", args...) }
	p("# Request %s: %s\n", r.Ref(), redact.Line(r.Title, 200))
	p("| | |\n|---|---|")
	p("| request | %s |\n| run | %s |\n| state | %s |\n| where | phase %d, %s |", r.RequestID, r.RunID, r.State.Label(), j.Phase, j.Phase)
	p("| started | %s |", r.StartedAt.Format(time.RFC3339))
	if r.EndedAt != nil {
		p("| ended | %s |", r.EndedAt.Format(time.RFC3339))
	}
	if j.Branch != "" {
		p("| branch | `%s` into `%s` |", j.Branch, cell(j.Base, 100))
	}
	if spent := r.SpentSoFar().String(); spent != "" {
		p("| used | %s |", spent)
	}
	if j.Isolation == workflow.IsolationNone {
		p("\n**Unsandboxed: commands of this run were not isolated from this machine.**")
	}
	if j.SentBack() {
		p("\n**A person does not want this change as it is**: %s", redact.Line(j.Rejection.String(), 1000))
	}
	for _, move := range j.Moves {
		p("\n%s.", redact.Line(move.String(), 400))
	}
	for _, note := range j.Warnings() {
		p("\n**Warning**: %s", redact.Line(note, 1000))
	}
	if e := r.Error; e != nil {
		p("\n## Why it stopped\n\n%s (%s)\n\n%s\n\nWhat to do:\n", redact.Line(e.Title, 200), e.ReasonCode, redact.Fenced(e.Message))
		for _, line := range commandline.Lines(e) {
			p("- %s", redact.Line(line, 300))
		}
	}
	p("\n## Phases\n\n| | phase | | |\n|---|---|---|---|")
	for _, record := range j.Phases {
		p("| %d | %s | %s | %s |", record.Phase, record.Step, strings.ToLower(string(record.Status)), cell(record.Note, 200))
	}
	steps(r, p)
	p("\n## Evidence\n\n%s", Evidence(r))
	return b.String()
}

func steps(r *workflow.Run, p func(string, ...any)) {
	if len(r.Steps) > 0 {
		p("\n## Steps\n\n| | step | status | attempt | change | tests |\n|---|---|---|---|---|---|")
	}
	for _, s := range r.Steps {
		files := fmt.Sprintf("%d files", s.DiffStat.FilesChanged)
		if s.DiffStat.FilesChanged == 1 {
			files = "1 file"
		}
		p("| %s | %s | %s | %d | %s, +%d −%d | %s |", s.StepID, cell(s.Title, 100), s.Status, s.Attempt,
			files, s.DiffStat.LinesAdded, s.DiffStat.LinesDeleted, s.Test.Words())
	}
	if len(r.Details.Findings) > 0 {
		p("\n## Found and not fixed yet\n")
	}
	for _, f := range r.Details.Findings {
		p("- %s (%s)", redact.Line(f.Line1(), 400), f.Source)
	}
	if len(r.Details.Flags) > 0 {
		p("\n## For a person to look at\n")
	}
	for _, flag := range r.Details.Flags {
		p("- %s", redact.Line(flag, 300))
	}
}

// cell escapes a text for one field of a table, which a bar would end.
func cell(text string, limit int) string {
	return strings.ReplaceAll(redact.Line(text, limit), "|", `\|`)
}

// Evidence lists the tests that Signalbox ran, and on which commit, for the report and the pull request.
func Evidence(r *workflow.Run) string {
	return tests(r.Details.Evidence)
}

func tests(evidence []workflow.Evidence) string {
	if len(evidence) == 0 {
		return "No test has run yet."
	}
	var b strings.Builder
	b.WriteString("Tests that Signalbox ran itself, on commits that it recorded itself")
	if slices.ContainsFunc(evidence, func(e workflow.Evidence) bool { return e.Check != "" }) {
		b.WriteString(", and what failed there on the forge")
	}
	b.WriteString(":\n\n| test | commit | tree | command | result | time |\n|---|---|---|---|---|---|\n")
	for _, e := range evidence {
		tree := "the commit's" // a step's own tests run on it
		if e.Tree != "" {
			tree = fmt.Sprintf("`%.10s`", e.Tree)
		}
		result, took := "failed", fmt.Sprint(time.Duration(e.DurationMS)*time.Millisecond)
		switch {
		case e.Check != "":
			took = ""
		case len(e.Known) > 0: // they count as passed only if named
			result = "failed as before the change: " + redact.Escaped(redact.Line(strings.Join(e.Known, ", "), 300))
		case e.Passed:
			result = "passed"
		}
		_, _ = fmt.Fprintf(&b, "| %s | `%.10s` | %s | `%s` | %s | %s |\n", e.Purpose, e.Commit, tree,
			strings.ReplaceAll(cell(cmp.Or(e.Command, e.Check), 120), "`", "'"), result, took)
	}
	return b.String()
}

// Tested returns the trailers of the merge message that prove the change.
func Tested(r *workflow.Run) string {
	checked := r.Details.PullRequest.Checked
	for _, e := range r.Details.Evidence {
		if e.Tree == checked.Tree && e.Passed && e.Command != "" {
			result := "passed"
			if len(e.Known) > 0 {
				result = "nothing fails but what failed before the change: " + redact.Line(strings.Join(e.Known, ", "), 1000) + ";"
			}
			return fmt.Sprintf("Tested: %s\nTested-Tree: %s\nTested-Commit: %s\nTest-Result: %s in %s\n",
				trailer(e.Command), e.Tree, checked.Head, result, time.Duration(e.DurationMS)*time.Millisecond)
		}
	}
	return "Tested: nothing, for no test is configured\n"
}

// trailer formats a text as the value of a trailer. It keeps the lines of a command, which would be another command if joined. It
// indents them, so that none can be a trailer itself.
func trailer(text string) string {
	const most, width = 20, 200 // lines, and characters of each
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(redact.Clean(text))) {
		said := []rune(strings.TrimRight(line, " \t\n"))
		if len(said) > width {
			said = append(said[:width-1], '…')
		}
		if len(said) > 0 {
			lines = append(lines, string(said))
		}
	}
	if len(lines) > most {
		lines = append(lines[:most-1], "…")
	}
	return strings.Join(lines, "\n    ")
}
