package display

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/agent"
	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/redact/visible"
	"signalbox/internal/workflow"
)

// ShowLog prints lines of logs as they come: for people, or for programs.
func ShowLog(p *command.Project) func(app.LogLine) {
	return func(l app.LogLine) {
		switch {
		case l.Begins && !p.JSON:
			p.Print("%s\n", p.Paint(command.Bold, "==> "+l.Log+" <=="))
		case l.Begins:
		case p.JSON:
			// An entry of a transcript is printed as it is, any other line as in "signalbox session logs".
			line := fmt.Sprintf(`{"line":%s}`, visible.String(redact.Clean(strings.TrimRight(l.Text, "\r\n"))))
			if value := jsontext.Value(strings.TrimSpace(l.Text)); l.Entry && value.IsValid() {
				if clean, err := visible.JSON(value, p.Redact); err == nil {
					line = string(clean)
				}
			}
			p.Print("%s\n", line)
		case !l.Entry:
			p.Print("%s", redact.Clean(l.Text))
		default:
			var e agent.Entry
			if json.Unmarshal([]byte(l.Text), &e) != nil {
				p.Print("%s", redact.Clean(l.Text))
			} else if what, says := entry(p.Invocation, e); what != "" {
				says = strings.ReplaceAll(strings.TrimSpace(redact.Clean(says)), "\n", "\n                  ")
				p.Print("%s %-8s %s\n", commandline.Clock(e.Time), what, says)
			}
		}
	}
}

// LastWords is the last thing that the run's agent said or did, or that its command printed, on one line; empty if there is
// nothing to see.
func LastWords(p *command.Project, r *workflow.Run) string {
	if r.State != workflow.Running {
		return ""
	}
	return p.Logs(workflow.RefOf(r)).Last(func(line app.LogLine) string {
		if !line.Entry {
			return redact.Line(redact.Clean(line.Text), 300)
		}
		var e agent.Entry
		if json.Unmarshal([]byte(line.Text), &e) != nil {
			return ""
		}
		switch e.Kind {
		case agent.Said, agent.ToolCalled, agent.Retrying, agent.Warned, agent.Erred:
			what, says := entry(p.Invocation, e)
			return redact.Line(redact.Clean(strings.TrimSpace(what)+" "+says), 300)
		}
		return ""
	})
}

// entry is the word for what happened, and what there is to say about it; both are empty if people needn't see it.
func entry(a *command.Invocation, e agent.Entry) (what, says string) {
	color := ""
	switch e.Kind {
	case agent.Began:
		return "begin", strings.TrimSpace(e.Model + " " + e.Conversation)
	case agent.ToolCalled:
		return "does", strings.TrimSpace(e.Tool + ": " + firstLines(e.Text, 3))
	case agent.Over:
		says = e.Text
		if u := e.Usage; u != nil && *u != (agent.Usage{}) {
			says += fmt.Sprintf(" %d tokens in, %d out", u.InputTokens, u.OutputTokens)
			if u.CostUSD > 0 {
				says += fmt.Sprintf(", $%.4f", u.CostUSD)
			}
		}
		return "end", strings.TrimSpace(says)
	case agent.Said:
		color, what, says = command.Bold, "says", e.Text
	case agent.ToolReturned:
		if !e.Failed {
			return "", ""
		}
		color, what, says = command.Red, "failed", firstLines(e.Text, 6)
	case agent.PermissionAsked, agent.QuestionAsked:
		color, what, says = command.Yellow, "asks", e.Tool+": "+e.Text
	case agent.QuestionAnswered:
		color, what, says = command.Yellow, "is told", firstLines(e.Text, 3)
	case agent.PermissionDenied:
		color, what, says = command.Yellow, "denied", e.Tool+": "+firstLines(e.Text, 3)
	case agent.Retrying:
		color, what, says = command.Yellow, "retry", strings.TrimSpace(fmt.Sprintf("%d %s", e.Attempt, e.Text))
	case agent.Warned:
		color, what, says = command.Yellow, "warning", e.Text
	case agent.Erred:
		color, what, says = command.Red, "error", e.Text
	default:
		return "", ""
	}
	return a.Paint(color, fmt.Sprintf("%-8s", what)), says
}

// firstLines are the first n lines of text, and how many more there are.
func firstLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) <= n {
		return strings.Join(lines, "\n")
	}
	return strings.Join(lines[:n], "\n") + fmt.Sprintf("\n… %s more", commandline.Count(len(lines)-n, "line"))
}
