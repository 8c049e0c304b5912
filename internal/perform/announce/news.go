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
	// awaits is the commit that waits for an approval on the forge, and there means that no order replaces it. The run looks for it again and again,
	// which is no news.
	awaits string
	there  bool
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
		n.urgent = urgent{awaits: j.Head, there: awaitsThere(r)}
	}
	return n
}

// awaits reports whether someone has to approve the pull request. That is so while the run looks, too.
func awaits(r *workflow.Run) bool {
	j := &r.Details
	return r.UnderWay() && (awaitsThere(r) || j.AwaitsForge() && !j.Approved())
}

// awaitsThere reports whether the forge itself asks for the approval, so that no order here replaces it.
func awaitsThere(r *workflow.Run) bool {
	j := &r.Details
	return j.Phase == workflow.CIWatch && j.ChecksPassed() && j.PullRequest.Unapproved && j.MergeCommit == ""
}
