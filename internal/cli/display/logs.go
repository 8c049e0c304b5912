package display

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/agent"
	"signalbox/internal/app"
	"signalbox/internal/app/transcript"
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
			e, ok := transcript.Of(l)
			if !ok {
				p.Print("%s", redact.Clean(l.Text))
			} else if e.What != "" {
				says := strings.ReplaceAll(strings.TrimSpace(redact.Clean(e.Says)), "\n", "\n                  ")
				p.Print("%s %s %s\n", commandline.Clock(e.Time), painted(p.Invocation, e), says)
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
		e, _ := transcript.Of(line)
		switch e.Kind {
		case agent.Said, agent.ToolCalled, agent.Retrying, agent.Warned, agent.Erred:
			return redact.Line(redact.Clean(strings.TrimSpace(painted(p.Invocation, e))+" "+e.Says), 300)
		}
		return ""
	})
}

// tones are the colours of a log.
var tones = map[transcript.Tone]string{transcript.Strong: command.Bold, transcript.Attention: command.Yellow, transcript.Bad: command.Red}

// painted is the word for what happened, in its colour.
func painted(a *command.Invocation, e transcript.Line) string {
	word := fmt.Sprintf("%-8s", e.What)
	if color, ok := tones[e.Tone]; ok {
		return a.Paint(color, word)
	}
	return word
}
