package display

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/cli/command"
	"signalbox/internal/redact"
)

// transcriptJSON is one line of a transcript for programs: as it is, without secrets and without what
// acts on a terminal. A line that is no entry of ours is one of a log.
func (l *LogReader) transcriptJSON(line string) string {
	value := jsontext.Value(strings.TrimSpace(line))
	if !value.IsValid() {
		return logJSON(line)
	}
	clean, err := command.VisibleJSON(value, l.Redact)
	if err == nil {
		err = clean.Compact()
	}
	if err != nil {
		return logJSON(line)
	}
	return string(clean) + "\n"
}

// logJSON is one line of any other log, as "signalbox session logs" has them.
func logJSON(line string) string {
	if line == "" { // the end
		return ""
	}
	return fmt.Sprintf("{\"line\":%s}\n", command.VisibleString(redact.Clean(strings.TrimRight(line, "\r\n"))))
}
