package perform

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/agent"
	"signalbox/internal/perform/contract"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// answer converts a role's answer into an event: the answer, if it meets the role's contract, or its problems.
func (x *execution) answer(o workflow.Outcome, a workflow.Action, text, log string) workflow.Event {
	if a.Role == workflow.Implementer {
		text = strings.TrimSpace(text)
		last := strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
		return workflow.Implemented{Outcome: o, Summary: redact.Line(x.Redact.String(last), 200), LogPath: log}
	}
	data, err := agent.JSON(text)
	if err == nil {
		var event workflow.Event
		if event, err = contract.Read(o, a.Role, x.masked(data), log); err == nil {
			return event
		}
	}
	return workflow.AnswerRefused{Outcome: o, Problems: contract.Problems(err), LogPath: log}
}

// masked returns JSON without secrets in its texts. It looks for them in the decoded texts, because escapes would hide a
// secret that shows again when an error quotes the text.
func (x *execution) masked(data []byte) []byte {
	var out bytes.Buffer
	decoder := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	encoder := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := decoder.ReadToken()
		if errors.Is(err, io.EOF) {
			return bytes.TrimSpace(out.Bytes())
		}
		if err == nil && token.Kind() == '"' {
			token = jsontext.String(x.Redact.String(token.String()))
		}
		if err == nil {
			err = encoder.WriteToken(token)
		}
		if err != nil { // the contract reports the problem
			return []byte(x.Redact.String(string(data)))
		}
	}
}
