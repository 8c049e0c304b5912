package health

import (
	"slices"
	"time"

	"signalbox/internal/workflow"
)

// Unseen is a check without a verdict in the last pass: it neither failed nor passed, for example because its service could not be asked.
type Unseen struct {
	Check string `json:"check"`
	// Why says in one line why there was no verdict.
	Why     string           `json:"why"`
	Unknown workflow.Unknown `json:",embed"`
}

// Sight lists the checks of a pass that did not fail: those that passed, and those without a verdict.
type Sight struct {
	// Passed are the names of checks that passed, in this pass or within their interval.
	Passed []string
	// Unseen are the checks without a verdict. None of their errors may be closed.
	Unseen []Unseen
}

// Shows reports whether a pass without failures proves that the project is healthy: at least one check passed, and every check with an open error
// had a verdict. A check that never has a verdict therefore doesn't keep a project from being healthy, and no error counts as gone because a pass
// could not look.
func (h *State) Shows(s Sight) bool {
	open := func(u Unseen) bool {
		return slices.ContainsFunc(h.Loop.Errors, func(e Error) bool { return e.Check == u.Check })
	}
	return len(s.Passed) > 0 && !slices.ContainsFunc(s.Unseen, open)
}

// Unclear ends a pass that found no failure but proves nothing either, and returns it. Open errors stay open; a healthy project becomes unknown.
func (h *State) Unclear(pass Pass, every time.Duration, now time.Time) Pass {
	pass.Result, pass.EndedAt = PassUnknown, now.UTC().Format(time.RFC3339)
	h.RunCount++
	h.schedule(pass, every, now)
	switch h.LastHealthStatus {
	case Critical:
		pass.Result = PassCritical
	case Healthy:
		h.LastHealthStatus = Unknown
	}
	return pass
}
