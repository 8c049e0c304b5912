package perform

import (
	"context"
	"fmt"
	"strings"

	"signalbox/internal/perform/report"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// mergeMessage is the merge commit's message: what was asked, and the evidence
// that it may be merged.
func (x *execution) mergeMessage(ctx context.Context) string {
	r, j := &x.run, &x.run.Details
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "Merge request %s: %s\n\n", r.Ref(), redact.Line(r.Title, 60))
	for _, s := range r.Steps {
		_, _ = fmt.Fprintf(&b, "- %s %s\n", s.StepID, redact.Line(s.Title, 70))
	}
	b.WriteString("\n")
	b.WriteString(report.Tested(r))
	_, _ = fmt.Fprintf(&b, "Isolation: %s\n", j.Isolation)
	if a := j.Approval; a != nil && a.Commit == j.Head {
		_, _ = fmt.Fprintf(&b, "Approved-By: %s\n", redact.Line(a.By, 100))
	} else {
		b.WriteString("Approved-By: configuration (approve: auto)\n")
	}
	_, _ = fmt.Fprintf(&b, "Signalbox-Request: %s\nSignalbox-Run: %s\n", r.RequestID, r.RunID)
	return b.String() + x.trailers(ctx, workflow.Roles...)
}
