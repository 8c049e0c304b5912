package agent

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"unicode"

	"signalbox/internal/redact"
)

// Question is what an agent asks while it works, and waits with. All of it is the agent's own word,
// cleaned for a terminal.
type Question struct {
	// ID is unique within the call, and nothing that anybody else should rely on.
	ID   string
	Kind QuestionKind
	// Tool is the agent's own name of what it wants to use, or asks with.
	Tool string
	// Subject is what patterns of a policy are held against: the command, the path (relative to the
	// working directory where it is below it), the address. Empty where the tool has none.
	Subject string
	// Text is what a person is to read, and Options what they may choose from, each one line.
	Text    string
	Options []string
	// Altered: what is asked for was longer, or held something that is not shown, so that whoever
	// agrees does not see all of what they agree to. No policy may.
	Altered bool
}

// QuestionKind says what may be answered.
type QuestionKind string

const (
	Permission QuestionKind = "permission" // Allow or Deny
	Choice     QuestionKind = "choice"     // one of Options, words of one's own, or Deny
	Words      QuestionKind = "text"       // words, or Deny
)

// Answer is what a person or a policy says to a Question.
type Answer struct {
	Verdict Verdict
	// Option is an index of Options, with Chosen.
	Option int
	// Text is what is said, with Said; with Denied it is why, for the agent.
	Text string
}

// Verdict is the kind of an Answer.
type Verdict string

const (
	Allowed Verdict = "allow"
	Denied  Verdict = "deny"
	Chosen  Verdict = "option"
	Replied Verdict = "text"
)

// Asker answers a question, however long that takes. Its error is that of ctx, which ends when the
// agent wants no answer any more; any other ends the call.
type Asker func(ctx context.Context, q Question) (Answer, error)

// ErrCannotAsk: the driver's agent has no way to say that it waits for a person.
var ErrCannotAsk = errors.New("it has no way to ask while it works")

// Bounds of a Question: what a person reads of it, and chooses from.
const (
	MaxOptions   = 20
	optionRunes  = 300
	toolRunes    = 100
	subjectRunes = EntryRunes
)

// Asked is a question as everybody else may see it: cleaned, bounded, and Altered where that took
// anything away.
func Asked(q Question) Question {
	asked := Question{ID: q.ID, Kind: q.Kind, Altered: q.Altered || len(q.Options) > MaxOptions}
	asked.Text = asked.shown(q.Text, EntryRunes, false)
	asked.Tool, asked.Subject = asked.shown(q.Tool, toolRunes, true), asked.shown(q.Subject, subjectRunes, false)
	for _, option := range q.Options[:min(len(q.Options), MaxOptions)] {
		asked.Options = append(asked.Options, asked.shown(option, optionRunes, true))
	}
	return asked
}

// shown is s as a person sees it.
func (q *Question) shown(s string, limit int, oneLine bool) string {
	s = strings.TrimRight(s, " \t\n")
	clean := strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			if oneLine {
				return ' '
			}
			return r
		case r == unicode.ReplacementChar || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, redact.Clean(s))
	if runes := []rune(clean); len(runes) > limit {
		clean = string(runes[:limit-1]) + "…"
	}
	q.Altered = q.Altered || clean != s
	return clean
}

// Below is a path as a Subject has it: relative to dir where it is below it. Whichever way it takes
// there is not said, so that one that is denied is denied by any name.
func Below(dir, path string) string {
	whole := path
	if !filepath.IsAbs(path) && strings.Contains(path, "..") {
		whole = filepath.Join(dir, path)
	}
	if below, err := filepath.Rel(dir, whole); err == nil && filepath.IsAbs(whole) && filepath.IsLocal(below) {
		return below
	}
	return path
}
