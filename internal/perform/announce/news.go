package announce

import (
	"fmt"
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
	// head is the commit that waits for people on the forge, and awaits says for what. The run looks again and again, which is no news.
	head, awaits string
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
	if a := r.Awaits(); a.People() {
		n.urgent = urgent{head: j.Head, awaits: fmt.Sprint(a, a.Required)}
	}
	return n
}
