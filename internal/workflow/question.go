package workflow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"signalbox/internal/workflow/wording"
)

// Question is what an agent asks while it works. The run stays RUNNING and waits for an answer until Until. A crash withdraws the question, because
// the agent that asked has ended too. All text in it is untrusted.
type Question struct {
	// ID is unique within the run ("Q1"), so that no answer can be taken for one to another question.
	ID string `json:"id"`
	// Key is that of the action whose agent waits.
	Key  string       `json:"key"`
	Role Role         `json:"role"`
	Kind QuestionKind `json:"kind"`
	// Tool is the agent's own name for what it wants to use. Subject is the command, path or address that a pattern
	// is compared with; empty if there is none.
	Tool    string   `json:"tool"`
	Subject string   `json:"subject"`
	Text    string   `json:"text"`
	Options []string `json:"options"`
	// Altered: the question was longer, or contained something that is not shown.
	Altered bool `json:"altered"`
	// Always is the pattern that an answer with always adds; empty if none can.
	Always  string    `json:"always"`
	AskedAt time.Time `json:"asked_at"`
	// Until is when the question counts as denied.
	Until   time.Time `json:"until"`
	Unknown Unknown   `json:",embed"`
}

// QuestionKind says how a question can be answered. Any question can be denied.
type QuestionKind string

const (
	PermissionQuestion QuestionKind = "permission" // may the agent use the tool?
	ChoiceQuestion     QuestionKind = "choice"     // one of the options, or an answer in words
	TextQuestion       QuestionKind = "text"       // an answer in words
)

// Answer is a person's answer to a question, or that of its deadline.
type Answer struct {
	// Question is its ID.
	Question string        `json:"question"`
	Verdict  AnswerVerdict `json:"verdict"`
	// Option is the number of the option, from 1; 0 with another verdict.
	Option int `json:"option"`
	// Text is the answer in words, or the reason for a denial; the agent gets it.
	Text string `json:"text"`
	// Always: the same is allowed without a question for the rest of the run.
	Always bool `json:"always"`
	// By is a person's name, or NobodyInTime.
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Unknown Unknown   `json:",embed"`
}

// AnswerVerdict is the kind of an Answer.
type AnswerVerdict string

const (
	AnswerAllow  AnswerVerdict = "allow"  // the tool may be used
	AnswerDeny   AnswerVerdict = "deny"   // it may not, or the question stays without an answer
	AnswerOption AnswerVerdict = "option" // the option numbered Option
	AnswerText   AnswerVerdict = "text"   // the answer in Text
)

// NobodyInTime is the author of an answer that the deadline gave.
const NobodyInTime = "nobody in time"

// DefaultAnswerWithinSec is how long a question waits for an answer without another limit, in seconds.
const DefaultAnswerWithinSec = 1800

// Refuses says why an answer does not fit the question; empty if it does.
func (q *Question) Refuses(a Answer) string {
	switch {
	case a.Question != q.ID:
		return fmt.Sprintf("it is for %s, and %s is asked", a.Question, q.ID)
	case a.Always && q.Always == "":
		return "no pattern says exactly this, so it cannot be allowed always"
	case a.Always && a.Verdict != AnswerAllow:
		return "only what is allowed can be allowed always"
	case a.Verdict == AnswerDeny:
		return ""
	case q.Kind == PermissionQuestion && a.Verdict != AnswerAllow:
		return "it asks for permission: allow it or deny it"
	case q.Kind != PermissionQuestion && a.Verdict == AnswerAllow:
		return "it asks for an answer in words, not for permission"
	case a.Verdict == AnswerOption && (q.Kind != ChoiceQuestion || a.Option < 1 || a.Option > len(q.Options)):
		return fmt.Sprintf("it has no option %d", a.Option)
	case !slices.Contains([]AnswerVerdict{AnswerAllow, AnswerOption, AnswerText}, a.Verdict):
		return "that is no answer"
	case a.Verdict == AnswerText && strings.TrimSpace(a.Text) == "":
		return "it says nothing"
	}
	return ""
}

// maxLine1 is how much of a question one line shows, in runes.
const maxLine1 = 200

// Line1 returns the question on one line, shortened.
func (q *Question) Line1() string {
	text, _, cut := strings.Cut(strings.TrimSpace(q.Text), "\n")
	if runes := []rune(text); len(runes) > maxLine1 {
		text, cut = string(runes[:maxLine1]), true
	}
	if cut {
		text += " …"
	}
	return wording.Printable(strings.TrimPrefix(q.Tool+": "+text, ": "))
}
