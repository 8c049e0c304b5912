package machine

import (
	"fmt"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

func (m *machine) reviewAnswered(e workflow.ReviewAnswered) {
	if len(e.Review.Findings) == 0 {
		m.run.Details.Findings = nil
		m.advance("passed")
		return
	}
	findings := make([]workflow.Finding, len(e.Review.Findings))
	for i, f := range e.Review.Findings {
		f.Source = workflow.FoundByReview
		findings[i] = f
	}
	m.roundFailed(findings)
}

func (m *machine) stressEnded(e workflow.TestsEnded) {
	if m.unsettled(e, false) {
		return
	}
	if e.Passed {
		m.advance("passed")
		return
	}
	m.roundFailed([]workflow.Finding{{Source: workflow.FoundByStress, Text: "The stress test fails:\n" + e.Summary}})
}

// roundFailed sends the change back with what was found, or asks a person when
// the rounds are used up.
func (m *machine) roundFailed(findings []workflow.Finding) {
	j := &m.run.Details
	j.Findings = findings
	m.close(workflow.StepDone, wording.Count(len(findings), "finding"))
	j.Used.ReviewRounds++
	if j.Used.ReviewRounds >= j.Settings.Limits.ReviewRounds {
		j.Phase = workflow.ReviewFix // where a resumed run goes on
		m.reopenAfter(workflow.ReviewFix)
		m.block(workflow.ReviewLoopExceeded, workflow.CategoryExecution, workflow.ReviewLoopExceededCode,
			fmt.Sprintf("%d reviews in a row found something; last: %s", j.Used.ReviewRounds, findings[0].Text),
			m.run.Ask("look at the change and the findings", workflow.VerbStatus))
		return
	}
	m.enter(workflow.ReviewFix)
}

// openMend begins a change that answers the findings.
func (m *machine) openFix() {
	j := &m.run.Details
	untested := j.Untested()
	if len(j.Findings) == 0 && !untested {
		m.advance("")
		return
	}
	j.Fixes++
	j.FixAttempt = 0
	j.StepBase = j.Head
	j.Used.Autofix, j.Used.AgentRetries = 0, 0
	if len(j.Findings) == 0 {
		m.testChange(fixID(j.Fixes), 1)
		return
	}
	m.callImplementer("")
}
