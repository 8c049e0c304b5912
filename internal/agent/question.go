package agent

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"unicode"

	"signalbox/internal/redact"
)

// Question is a question that an agent asks while it works and waits. All of it is untrusted, and cleaned for a terminal.
type Question struct {
	// ID is unique within the call. Only the driver may rely on it.
	ID   string
	Kind QuestionKind
	// Tool is the agent's own name of the tool that it wants to use or asks with.
	Tool string
	// Subject is compared with the patterns of a policy: the command, the path (relative to the working directory if it is below that), or the
	// address. Empty if the tool has none.
	Subject string
	// Text is for a person to read; Options are the choices, one line each.
	Text    string
	Options []string
	// Altered: the original was longer, or held characters that aren't shown, so a person who agrees does not see everything. No policy may agree
	// to it.
	Altered bool
}

// QuestionKind says which answers are possible.
type QuestionKind string

const (
	// Permission may be Allowed or Denied.
	Permission QuestionKind = "permission"
	// Choice may be Chosen from Options, Replied to in words, or Denied.
	Choice QuestionKind = "choice"
	// Words may be Replied to, or Denied.
	Words QuestionKind = "text"
)

// Answer is a person's or a policy's answer to a Question.
type Answer struct {
	Verdict Verdict
	// Option is an index of Options, for the verdict Chosen.
	Option int
	// Text is the reply for the verdict Replied. With Denied it is the reason that the agent is given.
	Text string
}

// Verdict is the kind of an Answer.
type Verdict string

const (
	// Allowed: the agent may use the tool, this once.
	Allowed Verdict = "allow"
	// Denied: the agent may not, and continues without; Answer.Text is the reason.
	Denied Verdict = "deny"
	// Chosen: Answer.Option is the choice.
	Chosen Verdict = "option"
	// Replied: Answer.Text is the reply.
	Replied Verdict = "text"
)

// Asker answers a question, and may take as long as it needs. ctx ends when the agent no longer wants an answer; then Asker returns its error. Any
// other error ends the call.
type Asker func(ctx context.Context, q Question) (Answer, error)

// ErrCannotAsk: the driver's agent can't wait for a person's answer.
var ErrCannotAsk = errors.New("it has no way to ask while it works")

// Limits of what a person reads of a Question, and chooses from.
const (
	MaxOptions   = 20
	optionRunes  = 300
	toolRunes    = 100
	subjectRunes = EntryRunes
)

// Asked returns a question that is safe to show: cleaned and shortened, and Altered if that removed anything.
func Asked(q Question) Question {
	asked := Question{ID: q.ID, Kind: q.Kind, Altered: q.Altered || len(q.Options) > MaxOptions}
	asked.Text = asked.shown(q.Text, EntryRunes, false)
	asked.Tool, asked.Subject = asked.shown(q.Tool, toolRunes, true), asked.shown(q.Subject, subjectRunes, false)
	for _, option := range q.Options[:min(len(q.Options), MaxOptions)] {
		asked.Options = append(asked.Options, asked.shown(option, optionRunes, true))
	}
	return asked
}

// shown returns s cleaned and shortened, and sets Altered if that removed anything.
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

// Below returns a path as a Subject names it: relative to dir if it is below dir, otherwise unchanged. It resolves "..", so a pattern that denies a
// path denies every spelling of it.
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
