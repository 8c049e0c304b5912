package machine

import (
	"slices"

	"signalbox/internal/workflow"
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

// before lets what was ordered come before rest.
func (m *machine) before(rest []workflow.Action) {
	m.run.Details.Pending = append(m.run.Details.Pending, rest...)
}
