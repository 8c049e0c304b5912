package heal

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/health"
	"signalbox/internal/redact"
)

// attendCritical finishes what a killed process left undone about a critical state, and ends that state when a person acted. A person acts by
// closing or deleting its request. If the forge never had the request, as in a newly made folder, attendCritical opens it.
func (p *pass) attendCritical(ctx context.Context) error {
	key, known := p.state.CriticalKey(), p.state.Loop.Request
	if key == "" {
		return nil
	}
	request, err := Escalate(ctx, p.Forge, p.Redact, p.state)
	if err != nil {
		return p.setAside(ctx, err)
	}
	if known != "" && request.Closed {
		p.Observe(fmt.Sprintf("request %s is closed: repairs begin again", request.ID))
		return p.update(ctx, func(h *health.State) { h.Rearm(p.Clock()) })
	}
	if known == request.ID {
		return nil
	}
	p.Observe(fmt.Sprintf("%s; request %s is open about it", p.state.FailedInARow(), request.ID))
	return p.update(ctx, func(h *health.State) {
		if h.CriticalKey() == key {
			h.Loop.Request = request.ID
		}
	})
}

// Escalate opens the request about a critical state, or returns the one opened before: it searches by the state's key, so it may be interrupted and
// repeated at any point.
func Escalate(ctx context.Context, f forge.Forge, r *redact.Redactor, h health.State) (forge.Request, error) {
	title := "Self-healing gave up"
	if h.LastErrorID != "" {
		title += ": " + h.LastErrorID
	}
	var tried strings.Builder
	for _, e := range h.Loop.Errors {
		if e.Attempts > 0 && !e.Fixed {
			_, _ = fmt.Fprintf(&tried, "- %s: request %s, last run %s, repairs begun: %d\n", e.ID, e.Request, cmp.Or(e.Judged, "none"), e.Attempts)
		}
	}
	if tried.Len() > 0 {
		tried.WriteString("\n")
	}
	body := fmt.Sprintf("Repairs failed in %d passes in a row. Nothing is repaired until a person acts.\n\n"+
		"- error: %s\n- last attempt: %s\n- errors detected: %d\n- repairs: %d of %d succeeded\n\n%s"+
		"What is known of the error:\n\n%s\n\nAfter fixing it, or to have it tried again, type:\n\n    signalbox health record rearmed\n\n"+
		"The next pass looks at once, and repairs what still fails. %d passes in a row that find nothing wrong close this request.\n",
		h.ContinuousFailureCount, h.LastErrorID, h.LastAttemptAt, h.TotalErrorsDetected, h.TotalFixesSucceeded, h.TotalFixesAttempted,
		tried.String(), quoted(h.LastErrorSummary), health.HealthyPasses)
	request, err := f.OpenRequest(ctx, h.CriticalKey(), title, r.String(body))
	if err != nil {
		return request, fmt.Errorf("open request about a critical state: %w", err)
	}
	return request, nil
}

// quoted returns text as a Markdown block in which nothing is markup.
func quoted(text string) string {
	return "    " + strings.ReplaceAll(redact.Clean(text), "\n", "\n    ")
}
