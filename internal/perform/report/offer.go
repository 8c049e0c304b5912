package report

import (
	"cmp"
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
			p("- %s", redact.Escaped(redact.Line(strings.TrimSuffix(s.Title+": "+s.Summary, ": "), 300)))
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
		p("- %s", redact.Escaped(redact.Line(what, 400)))
	}
	now, earlier := counting(j)
	p("\n## Evidence\n\n%s", tests(now))
	if len(earlier) > 0 {
		p("<details><summary>Earlier tests: %d</summary>\n\n%s\n</details>\n", len(earlier), tests(earlier[max(0, len(earlier)-maxEarlier):]))
	}
	var agents []string
	for _, a := range j.Assistants {
		agents = append(agents, redact.Line(strings.TrimSpace(cmp.Or(a.Program, a.Agent)+" "+a.Model), 100)+" as "+string(a.Role))
	}
	p("| commit | `%s` |\n|:--|:--|", j.Head)
	if len(agents) > 0 {
		p("| agents | %s |", redact.Escaped(redact.Line(strings.Join(agents, ", "), 300)))
	}
	if spent := r.SpentSoFar().String(); spent != "" {
		p("| used | %s |", spent)
	}
	p("| isolation | %s |", redact.Escaped(redact.Line(j.Isolation, 100)))
	if j.Fingerprint != "" {
		p("| environment | `%.16s` |", j.Fingerprint)
	}
	return strings.TrimSpace(b.String()) + "\n"
}

// maxEarlier bounds the tests that few people look at.
const maxEarlier = 40

// counting returns the tests of the present commit, or else the last one, and all others.
func counting(j *workflow.Details) (now, earlier []workflow.Evidence) {
	for _, e := range j.Evidence {
		if e.Commit == j.Head {
			now = append(now, e)
		} else {
			earlier = append(earlier, e)
		}
	}
	if last := len(earlier) - 1; len(now) == 0 && last >= 0 {
		now, earlier = earlier[last:], earlier[:last]
	}
	return now, earlier
}
