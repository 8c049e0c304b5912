package machine

import (
	"slices"
	"strings"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
)

// What lies in an environment and is too large to keep stands in the way of whatever begins with
// the last recorded commit. Nobody but a person may say that it is not needed, and what they say
// holds for what is there when they say it: it is carried out before anything else runs there.

// dropWorkFirst orders that such work is dropped, before what was to be done.
func (m *machine) dropWorkFirst() {
	defer m.before(m.run.Details.Pending)
	m.run.Details.Pending = nil
	m.order(workflow.Action{Kind: workflow.DropWork})
}

// The first line of a refusal in the implementer's prompt. A file that is too large is reported once: a second report costs a call and
// changes nothing.
const (
	changeRefused   = "The change was refused:\n"
	tooLargeRefused = "The change was refused because it is too large:\n"
)

// workRefused sends back work that is too large to record. Unless the agent's own limit ends the run, the implementer continues with
// what it made.
func (m *machine) workRefused(e workflow.ChangeRefused) {
	m.refuseChange(e.Problems, e.TooLarge)
	pending := m.run.Details.Pending
	if i := slices.IndexFunc(pending, func(a workflow.Action) bool { return a.Kind == workflow.CallAgent && a.Role == workflow.Implementer }); e.TooLarge && i >= 0 {
		pending[i].InPlace = true
	}
}

func (m *machine) refuseChange(problems []string, tooLarge bool) {
	j := &m.run.Details
	begins := changeRefused
	if tooLarge {
		begins = tooLargeRefused
	}
	reason := begins + strings.Join(problems, "\n")
	again := j.Used.Autofix < j.Settings.Limits.Autofix
	if tooLarge && strings.HasPrefix(j.Failure, tooLargeRefused) {
		again = false // it was told, and made it again
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

// secretsRefused begins the reason with which a change that holds a known secret goes back once.
const secretsRefused = "The change was refused, because it holds a secret:"

// secretsRefused sends a change back to the implementer, once, if it holds a known secret that no person has been told of:
// nothing of it is kept on the branch. One that comes back with it is a person's to judge, for the
// value may belong there.
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
	if len(fresh) == 0 || strings.HasPrefix(j.Failure, secretsRefused) || j.Used.Autofix >= j.Settings.Limits.Autofix {
		return false
	}
	j.Used.Autofix++
	m.run.Counters.AutofixCycles++
	m.workAgain(secretsRefused + "\n- " + strings.Join(fresh, "\n- ") +
		"\nDo it again without the value: let the program read it where it runs, from a variable or a file that is not part of the change.")
	return true
}
