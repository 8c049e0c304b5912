package machine

import (
	"fmt"
	"strings"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
	"signalbox/internal/workflow/wording"
)

// The first line of a refusal in the implementer's prompt. The prefix tells a second refusal from the first: a file that is too large, or a
// secret, is reported once, because a second report costs a call and changes nothing.
const (
	changeRefused   = "The change was refused:\n"
	tooLargeRefused = "The change was refused because it is too large:\n"
	secretRefused   = "The change was refused, because it holds a secret:"
)

// refuseChange sends a change that breaks a rule back to the implementer, until the budget for that is used up.
func (m *machine) refuseChange(problems []string, tooLarge bool) {
	j := &m.run.Details
	begins := changeRefused
	if tooLarge {
		begins = tooLargeRefused
	}
	reason := begins + strings.Join(problems, "\n")
	again := j.Used.Autofix < j.Settings.Limits.Autofix
	if tooLarge && strings.HasPrefix(j.Failure, tooLargeRefused) {
		again = false // the implementer knew, and made it again
	}
	if again {
		j.Used.Autofix++
		m.run.Counters.AutofixCycles++
		m.workAgain(reason)
		return
	}
	m.fail(m.problem(workflow.CategoryGit, workflow.ChangeRefusedCode, "the agent's change breaks a rule", reason), workflow.Action{})
	if tooLarge {
		m.run.Error.First(workflow.Advice("say in the request where such files belong, or have git ignore them: add them to .gitignore on " + j.Base))
	}
}

// secretsRefused sends a change back to the implementer, once, if it holds a known secret that no person was told about: nothing of it stays on
// the branch. If the secret comes back, a person decides, because the value may belong there.
func (m *machine) secretsRefused(e workflow.ChangeRecorded) bool {
	j := &m.run.Details
	var known []policy.Concern
	for _, c := range e.Concerns {
		if c.Kind == policy.KnownSecret {
			known = append(known, c)
		}
	}
	told := appendNew(nil, j.Flags...)
	fresh := appendNew(told, policy.Flags(known)...)[len(told):]
	if len(fresh) == 0 || strings.HasPrefix(j.Failure, secretRefused) || j.Used.Autofix >= j.Settings.Limits.Autofix {
		return false
	}
	j.Used.Autofix++
	m.run.Counters.AutofixCycles++
	m.workAgain(secretRefused + "\n- " + strings.Join(fresh, "\n- ") +
		"\nDo it again without the value: let the program read it where it runs, from a variable or a file that is not part of the change.")
	return true
}

// nothingChanged sends a step back whose agent ended well and changed no file. tests are those that then failed, if any ran. A person is asked again
// about a change that they sent back.
func (m *machine) nothingChanged(tests workflow.TestsEnded) {
	j := &m.run.Details
	reason := "You ended without changing any file. Change the files in the working directory."
	message := fmt.Sprintf("%s called %d times and no file differs", m.answered.StepID, j.Used.AgentRetries+1)
	if tests.Summary != "" {
		reason += "\nThe tests fail:\n" + tests.Summary
		message += "; the tests fail:\n" + tests.Summary
	}
	if j.Used.AgentRetries < j.Settings.Limits.AgentRetries {
		j.Used.AgentRetries++
		m.run.Counters.Retries++
		m.workAgain(reason)
		return
	}
	if len(j.Denied) > 0 {
		message += "; it was not allowed to use " + strings.Join(j.Denied, ", ") + " (agents.….permissions)"
	}
	if j.SentBack() { // only a person can say whether the change is right after all, or what they meant
		j.Phases[workflow.ReviewFix].Note = message
		if j.Untested() { // the base was merged into it
			m.testChange(m.answered.StepID, m.answered.Attempt)
			return
		}
		m.close(workflow.StepDone, message)
		j.Phase = workflow.StressTest
		m.close(workflow.StepSkipped, "nothing has changed")
		m.enter(workflow.ApprovalWait)
		return
	}
	stop := m.problem(workflow.CategoryExecution, workflow.NoChangeCode, "the agent ended well and changed nothing", message)
	stop.RelatedPaths = paths(tests.LogPath)
	m.fail(stop, workflow.Action{})
}

// roundFailed sends the change back with the findings, or asks a person when the rounds, which used counts, are used up.
func (m *machine) roundFailed(findings []workflow.Finding, used *int) {
	j := &m.run.Details
	j.Findings = findings
	m.close(workflow.StepDone, wording.Count(len(findings), "finding"))
	if *used++; *used >= j.Settings.Limits.ReviewRounds {
		j.Phase = workflow.ReviewFix // a resumed run continues there
		m.reopenAfter(workflow.ReviewFix)
		m.block(workflow.ReviewLoopExceeded, workflow.CategoryExecution, workflow.ReviewLoopExceededCode,
			fmt.Sprintf("%d reviews in a row found something; last: %s", *used, findings[0].Text),
			m.run.Ask("look at the change and the findings", workflow.VerbStatus))
		return
	}
	m.enter(workflow.ReviewFix)
}

// openFix begins a change that answers the findings.
func (m *machine) openFix() {
	j := &m.run.Details
	if len(j.Findings) == 0 && !j.Untested() {
		m.advance("")
		return
	}
	j.Fixes++
	j.FixAttempt = 0
	j.StepBase = j.Head
	j.Used.Autofix, j.Used.AgentRetries = 0, 0
	if len(j.Findings) == 0 { // a commit that only needs its tests
		m.testChange(fixID(j.Fixes), 1)
		return
	}
	m.callImplementer("")
}
