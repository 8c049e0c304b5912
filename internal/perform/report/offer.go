package report

import (
	"fmt"
	"strings"

	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// Offer is the text of the pull request: what was done, what a reviewer should look at, and the evidence.
func Offer(r *workflow.Run) string {
	j := &r.Details
	var b strings.Builder
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format+"\n", args...) }
	for _, s := range r.Steps {
		if s.Status == workflow.StepDone {
			p("- %s", redact.Line(strings.TrimSuffix(s.Title+": "+s.Summary, ": "), 300))
		}
	}
	look := append(append([]string{}, j.Flags...), j.Warnings()...)
	for _, move := range j.Moves {
		look = append(look, move.String())
	}
	if j.Isolation == workflow.IsolationNone {
		look = append(look, "the commands of this run were not isolated from the machine that they ran on")
	}
	if len(look) > 0 {
		p("\n## To look at\n")
	}
	for _, what := range look {
		p("- %s", redact.Line(what, 400))
	}
	p("\n## Evidence\n\n%s\n", Evidence(r))
	var agents []string
	for _, a := range j.Assistants {
		agents = append(agents, redact.Line(strings.TrimSpace(a.Program+" "+a.Model), 100)+" as "+string(a.Role))
	}
	p("| | |\n|---|---|\n| commit | `%s` |", j.Head)
	if len(agents) > 0 {
		p("| agents | %s |", cell(strings.Join(agents, ", "), 300))
	}
	if spent := r.SpentSoFar().String(); spent != "" {
		p("| used | %s |", spent)
	}
	p("| isolation | %s |", cell(j.Isolation, 100))
	if j.Fingerprint != "" {
		p("| environment | `%.16s` |", j.Fingerprint)
	}
	return strings.TrimSpace(b.String()) + "\n"
}
