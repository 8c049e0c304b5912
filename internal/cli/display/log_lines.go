package display

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/redact"
)

// ShowLog prints lines of logs as they come: for people, or for programs.
func ShowLog(p *command.Project) func(app.LogLine) {
	return func(l app.LogLine) {
		switch {
		case l.Begins && !p.JSON:
			p.Print("%s\n", p.Paint(command.Bold, "==> "+l.Log+" <=="))
		case l.Begins:
		case l.Entry && p.JSON:
			p.Print("%s", transcriptJSON(l.Text, p.Redact))
		case l.Entry:
			p.Print("%s", transcriptLine(p.Invocation, l.Text))
		case p.JSON:
			p.Print("%s", logJSON(l.Text))
		default:
			p.Print("%s", redact.Clean(l.Text))
		}
	}
}

// transcriptJSON is one line of a transcript for programs: as it is, without secrets and without what
// acts on a terminal. A line that is no entry of ours is one of a log.
func transcriptJSON(line string, hide *redact.Redactor) string {
	value := jsontext.Value(strings.TrimSpace(line))
	if !value.IsValid() {
		return logJSON(line)
	}
	clean, err := command.VisibleJSON(value, hide)
	if err != nil {
		return logJSON(line)
	}
	return string(clean) + "\n"
}

// logJSON is one line of any other log, as "signalbox session logs" has them.
func logJSON(line string) string {
	return fmt.Sprintf("{\"line\":%s}\n", command.VisibleString(redact.Clean(strings.TrimRight(line, "\r\n"))))
}
