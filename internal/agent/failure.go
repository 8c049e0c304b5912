package agent

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"signalbox/internal/process"
	"signalbox/internal/redact"
)

// Failure says why an agent did not end well.
type Failure struct {
	Code FailureCode
	// Message is one line for people, without control characters and of at most messageRunes characters. It quotes the program or the model's
	// server where either said something.
	Message string
	// Until is when the model is available again, for RateLimited, UsageLimited and DaySpent; zero if unknown. It comes from the vendor: a header,
	// a field of an event, or the words of a message.
	Until time.Time
}

// FailureCode is the reason_code of an agent's failure. What follows from it (try again, wait, ask a person) is decided by workflow, which declares the
// same values as constants of its documents; docs/reasons.md explains them to people.
type FailureCode string

// The failures of the program itself, found by this package whatever the driver. A driver may know a better reason, from the program's own report.
const (
	// Crashed: the program ended with a non-zero exit code, or by a signal that Signalbox did not send. Drivers also use it for an end that they
	// can't explain: no final event, or an answer cut off at the model's own limit.
	Crashed FailureCode = "AGENT_FAILED"
	// Hung: it printed nothing for Task.Idle. Some programs wait for hours without a word when a limit is reached, so a driver that recognizes the
	// cause in what was printed before reports that instead.
	Hung FailureCode = "AGENT_HUNG"
	// TimedOut: it ran for Task.Total.
	TimedOut FailureCode = "AGENT_TIMED_OUT"
	// NoMemory: it exceeded the memory of its environment, and the kernel ended it.
	NoMemory FailureCode = "AGENT_OUT_OF_MEMORY"
	// Unavailable: the program is missing, too old, or can't be started, or its settings can't work. The task was not attempted, and another attempt
	// would end the same way: a person installs or configures it.
	Unavailable FailureCode = "AGENT_UNAVAILABLE"
	// NoAnswer: it ended well, but without the answer that its role owes. The implementer owes none: its work is in the files.
	NoAnswer FailureCode = "AGENT_NO_ANSWER"
)

// The failures of the agent's model, as the program or the gateway reports them. The gateway's report is first-hand and wins: an agent whose session
// was ended sees only a rejected request.
const (
	// RateLimited: too many requests at once, usually HTTP 429. It passes within seconds or minutes; see Failure.Until.
	RateLimited FailureCode = "AGENT_RATE_LIMITED"
	// UsageLimited: the share of a plan or of a day is used up, or the account has no credit. It passes within hours, or when a person pays; see
	// Failure.Until. Vendors answer 429 here too, so words, headers and details tell the two apart.
	UsageLimited FailureCode = "AGENT_USAGE_LIMITED"
	// Unauthorized: the key is missing, wrong, or not valid for the model. A person fixes it.
	Unauthorized FailureCode = "AGENT_UNAUTHORIZED"
	// Overflowed: the conversation is larger than the model's context. A new conversation may fit.
	Overflowed FailureCode = "AGENT_CONTEXT_OVERFLOW"
	// Unreachable: no answer arrived, or only half of one.
	Unreachable FailureCode = "AGENT_UNREACHABLE"
	// NoRoute: the model's server can't be reached with this machine's configuration: an unknown name, an untrusted certificate, or a proxy that
	// wants a password. Waiting does not help.
	NoRoute FailureCode = "AGENT_NO_ROUTE"
	// ModelFailed: the model's server failed or is overloaded (HTTP 5xx, and 529 at Anthropic).
	ModelFailed FailureCode = "AGENT_MODEL_FAILED"
	// Refused: the model's server rejects the request itself, for example because the model is unknown.
	Refused FailureCode = "AGENT_REQUEST_REFUSED"
	// Overspent: the call used up its Budget. Only the gateway and the caller report it.
	Overspent FailureCode = "AGENT_OVERSPENT"
	// DaySpent: all calls together used up the day's budget. Only the gateway reports it; Failure.Until is the end of the day, in UTC.
	DaySpent FailureCode = "AGENT_DAY_SPENT"

	// Lost: the agent no longer knows the conversation to resume: its record was deleted, or belongs to another folder. The next attempt starts a new
	// one.
	Lost FailureCode = "AGENT_CONVERSATION_LOST"
)

// messageRunes keeps a Failure's message to a few lines of a terminal.
const messageRunes = 300

// Fail returns a failure. Its message is cleaned and put on one line, so a may hold whatever a program or a server said.
func Fail(code FailureCode, format string, a ...any) *Failure {
	return &Failure{Code: code, Message: line(fmt.Sprintf(format, a...))}
}

// line returns s on one line, without control, format and other invisible characters, shortened to messageRunes.
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

// lastLine returns the last line of text with anything visible. Programs print the reason of their end last.
func lastLine(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if l := line(lines[i]); l != "" {
			return l
		}
	}
	return ""
}

// endOf applies the end rule that all drivers share: it returns nil if the program ended well. last is the end of its output and becomes part of
// the message, because it usually holds the reason. Deadlines and memory come before the exit code, which says nothing if the program was ended.
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
