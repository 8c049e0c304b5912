package session

import (
	"fmt"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/session"
	"signalbox/internal/session/terminal"
)

// sayNext says what there is to do after a session came to something.
func sayNext(a *command.Invocation, i *session.Info) {
	if a.JSON || i.Outcome == nil {
		return
	}
	next := []string{fmt.Sprintf("see it: signalbox session logs %d", i.Issue)}
	if i.EndedAt == nil {
		next = append(next, fmt.Sprintf("end its agent: signalbox session stop %d", i.Issue))
	}
	switch {
	case i.Outcome.Kind != terminal.Complete:
		next = append(next, beginAgain(i)...)
	case i.EndedAt != nil:
		next = append(next, fmt.Sprintf("what it changed: signalbox env exec %d -- sh -c 'git add -N . && git diff'\n"+
			"put that on a ref, from which git merges it: signalbox session cleanup %[1]d", i.Issue))
	}
	a.Say(strings.Join(next, "; "))
}

// beginAgain says what removes the reason why a session ended, and how it begins again.
func beginAgain(i *session.Info) []string {
	start := fmt.Sprintf("signalbox session start %d", i.Issue)
	switch said := i.Outcome.Message; {
	case strings.Contains(said, app.ErrSpent.Error()) && !strings.Contains(said, "limits.per_day"):
		return []string{"begin again with as much granted anew: " + start + " --grant"}
	case strings.Contains(said, string(agent.Unauthorized)):
		return []string{"see what is missing: signalbox doctor", "begin again in the same files: " + start}
	}
	return []string{"begin again in the same files: " + start}
}
