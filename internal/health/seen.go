package health

import (
	"slices"
	"time"

	"signalbox/internal/workflow"
)

// Unseen is a check of which the last pass could see nothing, which is no failure and no success.
type Unseen struct {
	Check string `json:"check"`
	// Why nothing could be seen, one line.
	Why     string           `json:"why"`
	Unknown workflow.Unknown `json:",embed"`
}

// Sight is what a pass saw beside failures: the checks that are known to pass, and those that nothing is known of.
type Sight struct {
	Passed []string
	Unseen []Unseen
}

// Shows reports whether a pass in which nothing failed shows that the project is healthy: something is known to pass, and
// nothing that failed before is unknown. So a check that never has a verdict does not keep a project from being healthy, and
// no error is taken for gone by passes that could not look where it was.
func (h *State) Shows(s Sight) bool {
	open := func(u Unseen) bool {
		return slices.ContainsFunc(h.Loop.Errors, func(e Error) bool { return e.Check == u.Check })
	}
	return len(s.Passed) > 0 && !slices.ContainsFunc(s.Unseen, open)
}

// Unclear ends a pass that found nothing wrong because it could not look, and returns it. What was known before stays known,
// but nobody says any more that all is well.
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
