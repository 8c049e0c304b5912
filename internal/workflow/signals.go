package workflow

import "slices"

// MergeSignals returns what people did to the signals since an engine last saw them, with what the engine itself acknowledged meanwhile.
// If both changed a value, theirs counts.
func MergeSignals(seen, mine, theirs Signals) Signals {
	merged := theirs
	if theirs.StopRequested == seen.StopRequested {
		merged.StopRequested = mine.StopRequested
	}
	if theirs.ResumeRequested == seen.ResumeRequested {
		merged.ResumeRequested = mine.ResumeRequested
	}
	if a, b := theirs.Notes, seen.Notes; a == b || a != nil && b != nil && *a == *b {
		merged.Notes = mine.Notes
	}
	has := func(s Signals, id string) bool {
		return slices.ContainsFunc(s.Commands, func(c Command) bool { return c.ID == id })
	}
	merged.Commands = slices.DeleteFunc(slices.Clone(theirs.Commands), func(c Command) bool { return has(seen, c.ID) && !has(mine, c.ID) })
	return merged
}

// Clone returns a copy that shares nothing with s but unknown keys.
func (s Signals) Clone() Signals {
	s.Commands, s.Orders = slices.Clone(s.Commands), slices.Clone(s.Orders)
	if s.Notes != nil {
		notes := *s.Notes
		s.Notes = &notes
	}
	return s
}
