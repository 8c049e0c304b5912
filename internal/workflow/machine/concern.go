package machine

import (
	"strings"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
)

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
