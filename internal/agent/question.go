package agent

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"unicode"

	"signalbox/internal/redact"
)

// Question is a question that an agent asks while it works and waits. All of it is untrusted, and cleaned for a terminal by Asked.
type Question struct {
	// ID is unique within the call. Only the driver may rely on it: it may be the program's own id of a request, or a number.
	ID string
	// Kind says which verdicts the Answer may have.
	Kind QuestionKind
	// Tool is the agent's own name of the tool that it wants to use or asks with.
	Tool string
	// Subject is compared with the patterns of a policy: the command, the path (relative to the working directory if it is below that), or the
	// address. Empty if the tool has none. It must say everything that the agent will do, so that a pattern can't allow more than it names: a driver
	// that does not know all of it sets Altered.
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
	// Permission may be Allowed or Denied. Every program that asks has it.
	Permission QuestionKind = "permission"
	// Choice may be Chosen from Options, Replied to in words, or Denied. Claude Code (AskUserQuestion) and Codex (request_user_input) let the model
	// ask so.
	Choice QuestionKind = "choice"
	// Words may be Replied to, or Denied. It is a Choice without options.
	Words QuestionKind = "text"
)

// Answer is a person's or a policy's answer to a Question.
type Answer struct {
	Verdict Verdict
	// Option is an index of Options, for the verdict Chosen.
	Option int
	// Text is the reply for the verdict Replied. With Denied it is the reason that the agent is given; if it is empty, the driver says that the use
	// was denied. Over ACP a denial has no words, so the agent learns the reason at the end of its turn.
	Text string
}

// Verdict is the kind of an Answer.
type Verdict string

const (
	// Allowed: the agent may use the tool, this once. Programs also offer "always", which is never chosen: rules that last are the user's policy.
	Allowed Verdict = "allow"
	// Denied: the agent may not, and continues without; Answer.Text is the reason.
	Denied Verdict = "deny"
	// Chosen: Answer.Option is the choice.
	Chosen Verdict = "option"
	// Replied: Answer.Text is the reply.
	Replied Verdict = "text"
)

// Asker answers a question, and may take as long as it needs. ctx ends when the agent no longer wants an answer: the question was withdrawn, or the
// program ended. Then Asker returns ctx's error. Any other error ends the call, and Run returns it.
type Asker func(ctx context.Context, q Question) (Answer, error)

// ErrCannotAsk: the driver's agent can't wait for a person's answer. NewDriver returns it for the permissions Ask; pi's driver always does.
var ErrCannotAsk = errors.New("it has no way to ask while it works")

// Limits of what a person reads of a Question, and chooses from. Lengths are in characters.
const (
	// MaxOptions is many more than any model offers.
	MaxOptions = 20
	// optionRunes and toolRunes are a few lines of a terminal, and one.
	optionRunes = 300
	toolRunes   = 100
	// subjectRunes is as much as a person reads of a command. A longer one is Altered, so no pattern can allow its hidden rest.
	subjectRunes = EntryRunes
)

// Asked returns a question that is safe to show: cleaned and shortened, and Altered if that removed anything. This package applies it to every
// question, so drivers fill in what the program said as it is.
func Asked(q Question) Question {
	asked := Question{ID: q.ID, Kind: q.Kind, Altered: q.Altered || len(q.Options) > MaxOptions}
	asked.Text = asked.shown(q.Text, EntryRunes, false)
	asked.Tool, asked.Subject = asked.shown(q.Tool, toolRunes, true), asked.shown(q.Subject, subjectRunes, false)
	for _, option := range q.Options[:min(len(q.Options), MaxOptions)] {
		asked.Options = append(asked.Options, asked.shown(option, optionRunes, true))
	}
	return asked
}

// shown returns s cleaned and shortened, and sets Altered if that removed anything. Space at the end doesn't count.
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
// path denies every spelling of it. Links are not resolved: they exist where the agent works, which may be another machine.
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
