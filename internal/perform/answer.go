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

// answer turns what a role said into a fact: the answer, if it keeps the
// role's contract, or what is wrong with it.
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

// masked is JSON without secrets in its texts, as they are read: what JSON escapes within one would be seen once an error
// quotes the text.
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
		if err != nil { // the contract says what is wrong with it
			return []byte(x.Redact.String(string(data)))
		}
	}
}
