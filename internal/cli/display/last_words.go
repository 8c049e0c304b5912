package display

import (
	"encoding/json"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// LastWords is the last thing that the run's agent said or did, or that its command printed, on one line; empty where
// there is nothing to see.
func LastWords(p *command.Project, r *workflow.Run) string {
	if r.State != workflow.Running {
		return ""
	}
	return p.Logs(workflow.RefOf(r)).Last(func(line app.LogLine) string {
		if line.Entry {
			return saidIn(p, line.Text)
		}
		return redact.Line(redact.Clean(line.Text), 300)
	})
}

// saidIn is what one line of a transcript says of the agent's words and actions.
func saidIn(p *command.Project, line string) string {
	var e agent.Entry
	if json.Unmarshal([]byte(line), &e) != nil {
		return ""
	}
	switch e.Kind {
	case agent.Said, agent.ToolCalled, agent.Retrying, agent.Warned, agent.Erred:
		what, says := entry(p.Invocation, e)
		return redact.Line(redact.Clean(strings.TrimSpace(what)+" "+says), 300)
	}
	return ""
}
