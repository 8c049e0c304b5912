package agent

import (
	"fmt"
	"strings"
	"unicode"

	"signalbox/internal/process"
	"signalbox/internal/redact"
)

// messageRunes keeps a Failure's message to a few lines of a terminal.
const messageRunes = 300

// Fail returns a failure. Its message is cleaned and put on one line.
func Fail(code FailureCode, format string, a ...any) *Failure {
	return &Failure{Code: code, Message: line(fmt.Sprintf(format, a...))}
}

// line returns s on one line, without control, format and other invisible characters.
func line(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, redact.Clean(s))
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) > messageRunes {
		runes = append(runes[:messageRunes-1], '…')
	}
	return string(runes)
}

// endOf applies the end rule that all drivers share: it returns nil if the program ended well. last is the end of its output and becomes part of
// the message, because it usually holds the reason.
func (p Program) endOf(task Task, end process.Result, last string) *Failure {
	name := p.Agent
	switch {
	case end.Ending == process.Idled:
		return Fail(Hung, "agent %q printed nothing for %s", name, task.Idle)
	case end.Ending == process.TimedOut:
		return Fail(TimedOut, "agent %q had not ended after %s", name, task.Total)
	case end.Ending == process.NoMemory:
		return Fail(NoMemory, "agent %q was ended by the kernel: out of memory", name)
	case end.OK():
		return nil
	case notStarted(end):
		return p.unseen(last)
	}
	how := fmt.Sprintf("exited with code %d", end.ExitCode)
	if end.Signal != "" {
		how = "was ended by " + end.Signal
	}
	if last != "" {
		how += ": " + last
	}
	return Fail(Crashed, "agent %q %s", name, how)
}

// lastLine returns the last line of text with anything visible.
func lastLine(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if l := line(lines[i]); l != "" {
			return l
		}
	}
	return ""
}
