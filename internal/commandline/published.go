package commandline

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/workflow"
)

// The published format of documents says a stop's steps in lines (error.actions, blocked.suggested_action), beside which our own
// data stands. The judgement makes the data alone; the lines are made of it where a document is written.

// Published makes encoders write the lines of a published document.
func Published() *json.Marshalers {
	return json.JoinMarshalers(json.MarshalToFunc(writeError), json.MarshalToFunc(writeBlocked))
}

// Own types without the marshalers, or each would call itself.
type (
	plainError   workflow.Error
	plainBlocked workflow.Blocked
)

func writeError(enc *jsontext.Encoder, e *workflow.Error) error {
	written := plainError(*e)
	written.Actions = Lines(e)
	return json.MarshalEncode(enc, &written)
}

// writeBlocked leaves a suggestion as it is that is there: entries are written by other programs, too.
func writeBlocked(enc *jsontext.Encoder, b *workflow.Blocked) error {
	written := plainBlocked(*b)
	if b.Next != nil && b.SuggestedAction == "" {
		written.SuggestedAction = Line(*b.Next)
	}
	return json.MarshalEncode(enc, &written)
}

// typed is a step with the command that takes it, for scripts: the arguments one by one.
type typed struct {
	plainStep
	Command []string `json:"command,omitempty"`
}

type plainStep workflow.NextStep

// Typed makes encoders write each step with its command, which no document keeps.
func Typed() *json.Marshalers {
	return json.MarshalToFunc(func(enc *jsontext.Encoder, s workflow.NextStep) error {
		return json.MarshalEncode(enc, typed{plainStep(s), Arguments(s)})
	})
}
