package command

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/commandline"
	"signalbox/internal/redact"
)

// SayAtMost is how much of one line is shown, in runes: an engine's whole complaint with the
// advice behind it, and no page of HTML.
const SayAtMost = 1000

// Show prints value with --json, and otherwise has it printed for a person.
func (a *Invocation) Show(value any, print func()) error {
	if a.JSON {
		return a.PrintJSON(value)
	}
	print()
	return nil
}

// PrintTable prints rows of cells: aligned below the names of the columns on a terminal, elsewhere with tabs between them.
func (a *Invocation) PrintTable(names string, rows [][]string) {
	table := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	if a.Terminal {
		_, _ = fmt.Fprintln(table, names)
	}
	for _, row := range rows {
		for i := range row {
			row[i] = redact.Line(row[i], 300)
		}
		if line := strings.Join(row, "\t"); a.Terminal {
			_, _ = fmt.Fprintln(table, line)
		} else {
			a.Print("%s\n", line)
		}
	}
	_ = table.Flush()
}

// withCommands gives each step of a document its command, too.
var withCommands = sync.OnceValue(func() json.Options {
	return json.WithMarshalers(json.JoinMarshalers(commandline.Published(), commandline.Typed()))
})

// PrintJSON prints one document, as the files have it, indented, and each step with its command.
func (a *Invocation) PrintJSON(value any) error {
	return a.PrintJSONLine(value, jsontext.WithIndent("  "))
}

// PrintJSONLine prints one document on one line, for streams. It masks each text as it is read, not as JSON spells it: an
// escape within a secret would split it.
func (a *Invocation) PrintJSONLine(value any, layout ...json.Options) error {
	data, err := json.Marshal(value, append(layout, json.Deterministic(true), withCommands())...)
	if err == nil {
		data, err = VisibleJSON(data, a.mask.known(), layout...)
	}
	if err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	a.Print("%s\n", data)
	return nil
}

// VisibleJSON makes a JSON value safe to print: texts redacted, control characters escaped. layout may indent it.
func VisibleJSON(value jsontext.Value, redactor *redact.Redactor, layout ...jsontext.Options) (jsontext.Value, error) {
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
			err = encoder.WriteValue(VisibleString(redactor.String(token.String())))
		}
		if err != nil {
			return nil, fmt.Errorf("show document: %w", err)
		}
	}
}

// VisibleString returns text as a JSON string without invisible characters.
func VisibleString(text string) jsontext.Value {
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

// PrintFields prints names and values below each other, without empty values.
func (a *Invocation) PrintFields(width int, fields ...[2]string) {
	for _, f := range fields {
		if f[1] != "" {
			a.Print("%-*s %s\n", width, f[0], redact.Line(f[1], 400))
		}
	}
}
