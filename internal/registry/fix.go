package registry

import (
	"fmt"

	"signalbox/internal/workflow"
)

// Fix repairs what older writers of environments.json are known to have got
// wrong or left out, and says what it did. A step that is not in the table is
// somebody else's and stays.
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
		// One of the format's sources counts pr-create as 9 and merge-cleanup as 11.
		if p, known := workflow.PhaseOf(e.Step); known && p != e.Phase {
			note("phase %d is an old number of %s, which is %d", e.Phase, e.Step, p)
			e.Phase = p
		}
		if e.Status == "" {
			e.Status = e.unblocked()
			if e.Blocked != nil {
				e.Status = EnvironmentBlocked
			}
			note("it has no status; by the rest of it, it is %s", e.Status)
		}
		switch {
		case e.LastUsedAt.IsZero() && !e.CreatedAt.IsZero():
			e.LastUsedAt = e.CreatedAt
			note("it has no last_used_at; created_at is taken")
		case e.CreatedAt.IsZero() && !e.LastUsedAt.IsZero():
			e.CreatedAt = e.LastUsedAt
			note("it has no created_at; last_used_at is taken")
		}
	}
	return notes
}
