package announce

import (
	"time"

	"signalbox/internal/workflow"
)

// news is what is worth an announcement. Two runs with equal news are told alike.
type news struct {
	urgent    urgent
	phase     workflow.Phase
	settingUp bool
	pull      int
}

// urgent is what people are told at once.
type urgent struct {
	state            workflow.State
	reason, question string
	ended            time.Time
	parked           bool
	// awaits is the commit that waits for an approval on the forge. The run looks for it again and again, which is no news.
	awaits string
}

func newsOf(r *workflow.Run) news {
	j := &r.Details
	n := news{urgent: urgent{state: r.State, parked: j.ParkedUntil != nil}, phase: j.Phase, settingUp: j.SettingUp}
	if j.PullRequest != nil {
		n.pull = j.PullRequest.Number
	}
	if r.Error != nil {
		n.urgent.reason = r.Error.ReasonCode
	}
	if j.Question != nil {
		n.urgent.question = j.Question.ID
	}
	if r.EndedAt != nil {
		n.urgent.ended = r.EndedAt.UTC()
	}
	if awaits(r) {
		n.urgent = urgent{awaits: j.Head}
	}
	return n
}

// awaits reports whether someone has to approve the pull request.
func awaits(r *workflow.Run) bool {
	return r.UnderWay() && r.Details.AwaitsForge() && !r.Details.Approved()
}

// awaitsThere reports whether the protection of the branch asks for an approval, so that no order here replaces it.
func awaitsThere(r *workflow.Run) bool {
	return !awaits(r) && r.Details.ParkedUntil != nil && r.Watches()
}
