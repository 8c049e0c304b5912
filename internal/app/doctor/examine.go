// Package doctor examines a project on this machine: what works, what is missing and how to fix it. It changes nothing and starts
// no program of the repository.
package doctor

import (
	"context"
	"errors"

	"signalbox/internal/app"
	"signalbox/internal/problem"
	"signalbox/internal/wire"
)

// examination is of a project on this machine.
type examination struct{ *app.App }

// Finding is one thing that doctor examined.
type Finding struct {
	What string `json:"what"`
	// Verdict is ok, warning or missing.
	Verdict string `json:"verdict"`
	Says    string `json:"says"`
	Next    string `json:"next,omitempty"`
}

const (
	VerdictOK      = "ok"
	VerdictWarning = "warning"
	VerdictMissing = "missing"
)

// Examine returns what works here, what is missing and how to fix it.
func Examine(ctx context.Context, project *app.App) (findings []Finding) {
	ExamineEach(ctx, project, func(f Finding) { findings = append(findings, f) })
	return findings
}

// ExamineEach is Examine for those who show each finding as it comes.
func ExamineEach(ctx context.Context, project *app.App, add func(Finding)) {
	p := &examination{project}
	p.lookAtRepository(ctx, add)
	p.lookAtConfig(add)
	if p.ConfigError == nil && p.lookAtTrust(add) {
		p.lookAtIsolation(ctx, add)
		p.lookAtLines(ctx, add)
		p.lookAtNetwork(add)
		p.lookAtAgents(ctx, add)
		p.lookAtNotifications(add)
		p.lookAtBroughtSettings(ctx, add)
		if p.lookAtForge(ctx, add) {
			p.lookAtStart(ctx, add)
		}
	}
	if p.Trust.Standing != wire.TrustWithheld {
		p.lookAtHealth(ctx, add)
	}
	p.lookAtRequests(ctx, add)
	p.lookAtDocuments(ctx, add)
	p.lookAtRuns(ctx, add)
	p.lookAtMounts(add)
}

// counts reports whether the configuration counts here: it can be read, and the user agreed to what it does to this machine.
func (p *examination) counts() bool {
	return p.ConfigError == nil && p.Trust.Standing != wire.TrustWithheld
}

// findingOf is an error, with its hint as what to do next.
func findingOf(what string, err error) Finding {
	f := Finding{What: what, Verdict: VerdictMissing, Says: err.Error()}
	var known *problem.Error
	if errors.As(err, &known) {
		f.Next = known.Hint
	}
	return f
}
