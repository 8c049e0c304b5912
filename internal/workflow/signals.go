package workflow

import "slices"

// MergeSignals joins what an engine did to the signals that it had seen
// (acknowledged some) with what people did to them since.
func MergeSignals(seen, mine, theirs Signals) Signals {
	merged := theirs
	merged.StopRequested = merge3(seen.StopRequested, mine.StopRequested, theirs.StopRequested)
	merged.ResumeRequested = merge3(seen.ResumeRequested, mine.ResumeRequested, theirs.ResumeRequested)
	if equalText(theirs.Notes, seen.Notes) {
		merged.Notes = mine.Notes
	}
	merged.Commands = slices.DeleteFunc(slices.Clone(theirs.Commands), func(c Command) bool {
		return hasCommand(seen, c.ID) && !hasCommand(mine, c.ID)
	})
	return merged
}

// merge3 is what a value becomes that two sides may have changed: if both did, theirs counts.
func merge3[T comparable](seen, mine, theirs T) T {
	if theirs == seen {
		return mine
	}
	return theirs
}

func equalText(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func hasCommand(s Signals, id string) bool {
	return slices.ContainsFunc(s.Commands, func(c Command) bool { return c.ID == id })
}

// Clone returns a copy that shares nothing with s but unknown keys.
func (s Signals) Clone() Signals {
	s.Commands = slices.Clone(s.Commands)
	if s.Notes != nil {
		notes := *s.Notes
		s.Notes = &notes
	}
	return s
}
