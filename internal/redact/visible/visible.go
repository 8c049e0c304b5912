// Package visible makes JSON safe to show: without secrets, and without characters that can't be seen.
package visible

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/redact"
)

// JSON makes a JSON value safe to print: texts redacted, control characters escaped. layout may indent it.
func JSON(value jsontext.Value, redactor *redact.Redactor, layout ...jsontext.Options) (jsontext.Value, error) {
	var out bytes.Buffer
	encoder := jsontext.NewEncoder(&out, append(layout, jsontext.PreserveRawStrings(true), jsontext.AllowDuplicateNames(true))...)
	decoder := jsontext.NewDecoder(bytes.NewReader(value))
	for {
		token, err := decoder.ReadToken()
		if err != nil {
			return bytes.TrimSpace(out.Bytes()), nil //nolint:nilerr // the end: the value was read before
		}
		if token.Kind() != '"' {
			err = encoder.WriteToken(token)
		} else {
			err = encoder.WriteValue(String(redactor.String(token.String())))
		}
		if err != nil {
			return nil, fmt.Errorf("show document: %w", err)
		}
	}
}

// String returns text as a JSON string without invisible characters.
func String(text string) jsontext.Value {
	data, _ := json.Marshal(strings.ToValidUTF8(text, "\uFFFD")) // a valid text can be marshaled
	if redact.Clean(string(data)) == string(data) {
		return data
	}
	var out bytes.Buffer
	for rest := data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if redact.Clean(string(r)) != "" {
			out.Write(rest[:size])
		} else {
			for _, unit := range utf16.Encode([]rune{r}) {
				_, _ = fmt.Fprintf(&out, `\u%04x`, unit)
			}
		}
		rest = rest[size:]
	}
	return out.Bytes()
}
