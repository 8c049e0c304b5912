package workflow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"signalbox/internal/workflow/wording"
)

// Question is what an agent asks while it works. The run stays RUNNING and waits for an answer, or for
// Until. All text in it is untrusted.
type Question struct {
	// ID is unique within the run ("Q1"), so that no answer is ever taken for one to another question.
	ID string `json:"id"`
	// Key is the action whose agent waits.
	Key  string       `json:"key"`
	Role Role         `json:"role"`
	Kind QuestionKind `json:"kind"`
	// Tool is the agent's own name of what it wants to use; Subject is the command, the path or the
	// address that a pattern would be held against, empty if there is none.
	Tool    string   `json:"tool"`
	Subject string   `json:"subject"`
	Text    string   `json:"text"`
	Options []string `json:"options"`
	// Altered: the question was longer, or contained something that isn't shown.
	Altered bool `json:"altered"`
	// Always is the pattern that an answer with always adds; empty where none can.
	Always  string    `json:"always"`
	AskedAt time.Time `json:"asked_at"`
	// Until is when the question counts as denied.
	Until   time.Time `json:"until"`
	Unknown Unknown   `json:",embed"`
}

// QuestionKind says how a question can be answered; each can be denied.
type QuestionKind string

const (
	PermissionQuestion QuestionKind = "permission" // allow
	ChoiceQuestion     QuestionKind = "choice"     // one of the options, or text
	TextQuestion       QuestionKind = "text"       // text
)

// Answer is what was said to a question.
type Answer struct {
	// Question is its ID.
	Question string        `json:"question"`
	Verdict  AnswerVerdict `json:"verdict"`
	// Option is the number of the option, from 1; 0 with another verdict.
	Option int `json:"option"`
	// Text is the answer in words, or why it is denied, which the agent is told.
	Text string `json:"text"`
	// Always: the same is to be allowed without being asked for the rest of the run.
	Always bool `json:"always"`
	// By is a person's name; NobodyInTime where nobody answered.
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Unknown Unknown   `json:",embed"`
}

// AnswerVerdict is the kind of an Answer.
type AnswerVerdict string

const (
	AnswerAllow  AnswerVerdict = "allow"
	AnswerDeny   AnswerVerdict = "deny"
	AnswerOption AnswerVerdict = "option"
	AnswerText   AnswerVerdict = "text"
)

// NobodyInTime gave the answers that a deadline gave.
const NobodyInTime = "nobody in time"

// DefaultAnswerWithinSec is how long a run that began without a limit for it waits for an answer.
const DefaultAnswerWithinSec = 1800

// Refuses says why an answer cannot be one to the question; empty if it can.
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

// maxLine1 is what of a question is shown in a line, in runes.
const maxLine1 = 200

// Line1 is the question in a line.
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

// Says is an answer in a few words.
func (a *Answer) Says() string {
	what := map[AnswerVerdict]string{AnswerAllow: "allowed", AnswerDeny: "denied", AnswerOption: fmt.Sprintf("option %d chosen", a.Option), AnswerText: "answered"}
	if a.Always {
		return fmt.Sprintf("allowed for the rest of the run by %s", wording.Printable(a.By))
	}
	return fmt.Sprintf("%s by %s", what[a.Verdict], wording.Printable(a.By))
}
