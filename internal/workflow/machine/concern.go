package machine

import (
	"fmt"
	"strings"

	"signalbox/internal/workflow"
)

// concernsTold bounds what one stop says; the change itself has the rest.
const concernsTold = 20

// secretsRefused begins the reason with which a change that holds a known secret goes back once.
const secretsRefused = "The change was refused, because it holds a secret:"

// flagsOf are the reasons to look, one for each kind of thing in each file.
func flagsOf(concerns []workflow.Concern) (flags []string) {
	type place struct {
		kind       workflow.ConcernKind
		what, path string
		commit     string
		named      bool
	}
	placeOf := func(c workflow.Concern) place { return place{c.Kind, c.What, c.Path, c.Commit, c.Line == 0} }
	more := map[place]int{}
	var order []workflow.Concern
	for _, c := range concerns {
		at := placeOf(c)
		if more[at]++; more[at] == 1 {
			order = append(order, c)
		}
	}
	for i, c := range order {
		if i == concernsTold {
			return append(flags, fmt.Sprintf("there is more of the kind in %d places", len(order)-i))
		}
		flags = append(flags, c.Flag(more[placeOf(c)]-1))
	}
	return flags
}

// secretsRefused sends a change back to the implementer, once, if it holds a known secret that no person has been told of:
// nothing of it is kept on the branch. One that comes back with it is a person's to judge, for the
// value may belong there.
func (m *machine) secretsRefused(e workflow.ChangeRecorded) bool {
	j := &m.run.Journey
	var known []workflow.Concern
	for _, c := range e.Concerns {
		if c.Kind == workflow.KnownSecret {
			known = append(known, c)
		}
	}
	told := appendNew(nil, j.Flags...)
	fresh := appendNew(told, flagsOf(known)...)[len(told):]
	if len(fresh) == 0 || strings.HasPrefix(j.Failure, secretsRefused) || j.Used.Autofix >= j.Settings.Limits.Autofix {
		return false
	}
	j.Used.Autofix++
	m.run.Counters.AutofixCycles++
	m.workAgain(secretsRefused + "\n- " + strings.Join(fresh, "\n- ") +
		"\nDo it again without the value: let the program read it where it runs, from a variable or a file that is not part of the change.")
	return true
}
