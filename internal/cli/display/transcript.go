package display

import (
	"encoding/json"
	"fmt"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/redact"
)

// transcriptLine is one line of a transcript for people; empty where it tells them nothing. A line
// that is no entry of ours is shown as it is.
func transcriptLine(a *command.Invocation, line string) string {
	var e agent.Entry
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		return redact.Clean(line)
	}
	what, says := entry(a, e)
	if what == "" {
		return ""
	}
	at := commandline.Clock(e.Time)
	return fmt.Sprintf("%s %-8s %s\n", at, what, indented(redact.Clean(says)))
}

// entry is the word for what happened, and what there is to say of it.
func entry(a *command.Invocation, e agent.Entry) (what, says string) {
	switch e.Kind {
	case agent.Began:
		return "begin", strings.TrimSpace(e.Model + " " + e.Conversation)
	case agent.Said:
		return a.Paint(command.Bold, fmt.Sprintf("%-8s", "says")), e.Text
	case agent.ToolCalled:
		return "does", strings.TrimSpace(e.Tool + ": " + firstLines(e.Text, 3))
	case agent.ToolReturned:
		if !e.Failed {
			return "", ""
		}
		return a.Paint(command.Red, fmt.Sprintf("%-8s", "failed")), firstLines(e.Text, 6)
	case agent.PermissionAsked, agent.QuestionAsked:
		return a.Paint(command.Yellow, fmt.Sprintf("%-8s", "asks")), e.Tool + ": " + e.Text
	case agent.QuestionAnswered:
		return a.Paint(command.Yellow, fmt.Sprintf("%-8s", "is told")), firstLines(e.Text, 3)
	case agent.PermissionDenied:
		return a.Paint(command.Yellow, fmt.Sprintf("%-8s", "denied")), e.Tool + ": " + firstLines(e.Text, 3)
	case agent.Retrying:
		return a.Paint(command.Yellow, fmt.Sprintf("%-8s", "retry")), strings.TrimSpace(fmt.Sprintf("%d %s", e.Attempt, e.Text))
	case agent.Warned:
		return a.Paint(command.Yellow, fmt.Sprintf("%-8s", "warning")), e.Text
	case agent.Erred:
		return a.Paint(command.Red, fmt.Sprintf("%-8s", "error")), e.Text
	case agent.Over:
		return "end", strings.TrimSpace(e.Text + " " + used(e.Usage))
	}
	return "", ""
}

// used is what a call used, for people; empty where nobody says.
func used(u *agent.Usage) string {
	if u == nil || *u == (agent.Usage{}) {
		return ""
	}
	text := fmt.Sprintf("%d tokens in, %d out", u.InputTokens, u.OutputTokens)
	if u.CostUSD > 0 {
		text += fmt.Sprintf(", $%.4f", u.CostUSD)
	}
	return text
}

// firstLines are the first n lines of text, and how many more there are.
func firstLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) <= n {
		return strings.Join(lines, "\n")
	}
	return strings.Join(lines[:n], "\n") + fmt.Sprintf("\n… %s more", commandline.Count(len(lines)-n, "line"))
}

// indented sets the lines after the first under it.
func indented(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n                  ")
}
