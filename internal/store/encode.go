package store

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/commandline"
	"signalbox/internal/store/strict"
)

// encode writes a document for people to read: its own names in the order of its
// type, foreign ones after them in alphabetical order, so that equal documents are
// equal bytes. Invalid UTF-8, which agents and tools do print, becomes U+FFFD: a
// document must stay writable.
func (s *Store) encode(value any, extra ...json.Options) ([]byte, error) {
	options := append([]json.Options{json.Deterministic(true), jsontext.AllowInvalidUTF8(true)}, extra...)
	written := commandline.Published()
	if s.redact != nil {
		written = json.JoinMarshalers(written, json.MarshalToFunc(func(enc *jsontext.Encoder, text string) error {
			return enc.WriteToken(jsontext.String(s.redact(text)))
		}))
	}
	options = append(options, json.WithMarshalers(written))
	var data bytes.Buffer
	if err := json.MarshalWrite(&data, value, options...); err != nil {
		return nil, err
	}
	if data.Len() >= strict.MaxSize {
		return nil, fmt.Errorf("larger than %d bytes", strict.MaxSize)
	}
	data.WriteByte('\n')
	return data.Bytes(), nil
}

// indented is the layout of documents, not of a log's lines.
var indented = jsontext.WithIndent("  ")
