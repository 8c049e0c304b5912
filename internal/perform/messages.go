package perform

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/perform/report"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// Commits says how a run's commits are signed and attributed.
type Commits struct {
	// Sign says which commits are signed; empty means none.
	Sign git.Signing
	// SignOff adds the user's Signed-off-by.
	SignOff bool
	// Trailer names the agents that took part; empty leaves them out.
	Trailer Trailer
}

// Trailer is the line that names an agent.
type Trailer string

const (
	AssistedBy   Trailer = "assisted-by"
	CoAuthoredBy Trailer = "co-authored-by"
)

// trailers returns the trailers for the agents of some roles, and the user's sign-off if configured.
func (x *execution) trailers(ctx context.Context, roles ...workflow.Role) string {
	var lines []string
	for _, a := range x.run.Details.Assistants {
		if !slices.Contains(roles, a.Role) {
			continue
		}
		name := strings.Map(func(r rune) rune {
			if strings.ContainsRune("<>", r) {
				return -1
			}
			return r
		}, redact.Line(cmp.Or(a.Program, a.Agent), 100))
		model := redact.Line(a.Model, 100)
		if model != "" {
			name += " (" + strings.NewReplacer("<", "", ">", "").Replace(model) + ")"
		}
		switch x.Commits.Trailer {
		case AssistedBy:
			lines = append(lines, "Assisted-by: "+name)
		case CoAuthoredBy:
			lines = append(lines, "Co-authored-by: "+name+" <noreply@localhost>")
		}
	}
	if user, err := x.Repo.User(ctx); x.Commits.SignOff && err == nil {
		lines = append(lines, fmt.Sprintf("Signed-off-by: %s <%s>", user.Committer.Name, user.Committer.Email))
	}
	slices.Sort(lines)
	text := strings.Join(slices.Compact(lines), "\n")
	if text == "" {
		return ""
	}
	return text + "\n"
}

// commitMessage names the step and the request of a commit.
func (x *execution) commitMessage(ctx context.Context, a workflow.Action) string {
	title, body := "", ""
	for _, s := range x.run.Steps {
		if s.StepID == a.StepID {
			title = redact.Line(s.Title, 68)
			if s.Summary != "" && s.Summary != s.Title {
				body = redact.Line(s.Summary, 200)
			}
		}
	}
	if title == "" {
		title = "Fix what was found"
		if j := x.run.Details; len(j.Conflicts) > 0 {
			title = redact.Line("Resolve the conflicts with "+j.Base, 68)
		}
		var lines []string
		for _, f := range x.run.Details.Findings {
			lines = append(lines, "- "+redact.Line(f.Line1(), 200))
		}
		body = strings.Join(lines, "\n")
	}
	message := title + "\n\n"
	if body != "" {
		message += body + "\n\n"
	}
	if x.Access != nil { // whoever wrote the issue or a review would act on the server through the commit
		message = forge.Defused(message)
	}
	return message + fmt.Sprintf("Signalbox-Request: %s\nSignalbox-Step: %s\n", x.run.RequestID, a.StepID) + x.trailers(ctx, workflow.Implementer)
}

// mergeMessage is the merge commit's message: the request, its steps and the evidence.
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
