package cli

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"signalbox/internal/problem"
	"signalbox/internal/redact"
)

func newDocumentCat(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "cat FILE",
		Short: "Print a document without secrets and control characters",
		Long: "Print a document, indented, with secrets replaced and control characters written as escapes. A file that is no JSON is\n" +
			"printed as cleaned text, and the exit code is 1.",
		Example: "  signalbox document cat environments.json\n  signalbox document cat runs/RQ-20261120-001/*/stage.json | jq .error",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.cat(args[0]) },
	}
}

func (a *invocation) cat(file string) error {
	data, err := a.readDocument(file)
	if err != nil {
		return err
	}
	redactor := a.Redactor()
	decoder := jsontext.NewDecoder(bytes.NewBuffer(data))
	for number := 0; ; number++ {
		value, err := decoder.ReadValue()
		if err != nil && number > 0 && len(bytes.TrimSpace(data[decoder.InputOffset():])) == 0 {
			return nil
		}
		if err == nil {
			value, err = shown(value, redactor)
		}
		if err != nil {
			a.print("%s\n", redactor.String(redact.Clean(string(data[decoder.InputOffset():]))))
			return &problem.Error{Err: fmt.Errorf("%s: not JSON: %w", file, err), Hint: "see what is wrong with it: signalbox document validate " + file}
		}
		a.print("%s\n", value)
	}
}

// shown is a JSON value for the eye: indented, texts redacted, and what acts on a terminal escaped.
func shown(value jsontext.Value, redactor *redact.Redactor) (jsontext.Value, error) {
	var out bytes.Buffer
	encoder := jsontext.NewEncoder(&out, jsontext.WithIndent("  "), jsontext.PreserveRawStrings(true), jsontext.AllowDuplicateNames(true))
	decoder := jsontext.NewDecoder(bytes.NewReader(value))
	for {
		token, err := decoder.ReadToken()
		if err != nil {
			return bytes.TrimSpace(out.Bytes()), nil //nolint:nilerr // the end: the value was read before
		}
		if token.Kind() != '"' {
			err = encoder.WriteToken(token)
		} else {
			err = encoder.WriteValue(escaped(redactor.String(token.String())))
		}
		if err != nil {
			return nil, fmt.Errorf("show document: %w", err)
		}
	}
}

// escaped is text as a JSON string of which every character can be seen.
func escaped(text string) jsontext.Value {
	data, _ := json.Marshal(strings.ToValidUTF8(text, "\uFFFD")) // a valid text can be marshaled
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
