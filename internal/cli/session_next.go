package cli

import (
	"fmt"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/session"
)

// sayNext says what there is to do after a session came to something.
func (a *app) sayNext(i *session.Info) {
	switch {
	case a.json || i.Outcome == nil:
	case i.EndedAt == nil:
		a.say(fmt.Sprintf("see it: signalbox session logs %d; end its agent: signalbox session stop %[1]d", i.Issue))
	case i.Outcome.Kind == session.Complete:
		a.say(fmt.Sprintf("see it: signalbox session logs %d; what it changed: signalbox env exec %[1]d -- sh -c 'git add -N . && git diff'\n"+
			"put that on a ref, from which git merges it: signalbox session cleanup %[1]d", i.Issue))
	case strings.Contains(i.Outcome.Message, errSpent.Error()) && !strings.Contains(i.Outcome.Message, "limits.per_day"):
		a.say(fmt.Sprintf("see it: signalbox session logs %d; begin again with as much granted anew: signalbox session start %[1]d --grant", i.Issue))
	case strings.Contains(i.Outcome.Message, string(agent.Unauthorized)):
		a.say(fmt.Sprintf("see what is missing: signalbox doctor; begin again in the same files: signalbox session start %d", i.Issue))
	default:
		a.say(fmt.Sprintf("see it: signalbox session logs %d; begin again in the same files: signalbox session start %[1]d", i.Issue))
	}
}
