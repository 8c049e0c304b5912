package registry

import (
	"fmt"

	"signalbox/internal/workflow"
)

// Fix corrects what other writers of environments.json are known to get wrong or leave out: the number
// of a phase, a missing step or status, and one of the two times. It fills in only what the rest of the
// entry proves. A step that isn't in the table of positions belongs to another program, and stays.
//
// The store calls it for each document that it reads. Fixing a fixed document changes nothing. notes has
// one line for each correction, with the entry's id, for the user; it is nil if nothing was wrong.
func (doc *Environments) Fix() (notes []string) {
	for i := range doc.Environments {
		e := &doc.Environments[i]
		note := func(format string, args ...any) {
			notes = append(notes, fmt.Sprintf("environment %q: %s", e.EnvID, fmt.Sprintf(format, args...)))
		}
		if e.Step == "" && e.Phase.Valid() {
			e.Step = e.Phase.Step()
			note("it has no step; phase %d is %s", e.Phase, e.Step)
		}
		// Some descriptions of the format count pr-create as phase 9 and merge-cleanup as 11.
		if p, known := workflow.PhaseOf(e.Step); known && p != e.Phase {
			note("phase %d is an old number of %s, which is %d", e.Phase, e.Step, p)
			e.Phase = p
		}
		if e.Status == "" {
			e.Status = e.unblocked()
			if e.Blocked != nil {
				e.Status = EnvironmentBlocked
			}
			note("it has no status; its other keys say %s", e.Status)
		}
		switch {
		case e.LastUsedAt.IsZero() && !e.CreatedAt.IsZero():
			e.LastUsedAt = e.CreatedAt
			note("it has no last_used_at; it gets the time of created_at")
		case e.CreatedAt.IsZero() && !e.LastUsedAt.IsZero():
			e.CreatedAt = e.LastUsedAt
			note("it has no created_at; it gets the time of last_used_at")
		}
	}
	return notes
}
