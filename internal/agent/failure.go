package agent

import (
	"fmt"
	"strings"
	"unicode"

	"signalbox/internal/process"
)

// messageRunes keeps a Failure's message a line on a terminal, not a page.
const messageRunes = 300

func failure(code FailureCode, format string, a ...any) *Failure {
	return &Failure{Code: code, Message: line(fmt.Sprintf(format, a...))}
}

// line is s without control, format and other invisible characters, on one line.
func line(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) > messageRunes {
		runes = append(runes[:messageRunes-1], '…')
	}
	return string(runes)
}

// endOf applies the rule that all drivers share: how the program ended, nil if
// it ended well. Last is the end of what it printed, and goes into the message
// because it is most often the reason.
func endOf(name, program string, task Task, end process.Result, last string) *Failure {
	switch {
	case end.Ending == process.Idled:
		return failure(Hung, "agent %q printed nothing for %s", name, task.Idle)
	case end.Ending == process.TimedOut:
		return failure(TimedOut, "agent %q had not ended after %s", name, task.Total)
	case end.Ending == process.NoMemory:
		return failure(NoMemory, "agent %q was ended by the kernel: out of memory", name)
	case end.OK():
		return nil
	case end.ExitCode == exitNotFound && last == "":
		return failure(Unavailable, "program %q of agent %q was not found", program, name)
	}
	how := fmt.Sprintf("exited with code %d", end.ExitCode)
	if end.Signal != "" {
		how = "was ended by " + end.Signal
	}
	if last != "" {
		how += ": " + last
	}
	return failure(Crashed, "agent %q %s", name, how)
}

// exitNotFound is how shells and wrappers say that there is no such program.
// With something printed it may as well be the program's own word.
const exitNotFound = 127

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
