package agent

import (
	"fmt"
	"strings"
	"unicode"

	"signalbox/internal/process"
	"signalbox/internal/redact"
)

// messageRunes keeps a Failure's message a line on a terminal, not a page.
const messageRunes = 300

// Fail is a failure whose message is made one clean line.
func Fail(code FailureCode, format string, a ...any) *Failure {
	return &Failure{Code: code, Message: line(fmt.Sprintf(format, a...))}
}

// cleaned is s without control, format and other invisible characters but line ends and tabs.
func cleaned(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.TrimSpace(redact.Clean(s)))
	if runes := []rune(s); len(runes) > limit {
		s = string(runes[:limit-1]) + "…"
	}
	return s
}

// line is s without control, format and other invisible characters, on one line.
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

// endOf applies the rule that all drivers share: how the program ended, nil if
// it ended well. Last is the end of what it printed, and goes into the message
// because it is most often the reason.
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

// lastLine is the last line of text that holds anything visible.
func lastLine(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if l := line(lines[i]); l != "" {
			return l
		}
	}
	return ""
}
