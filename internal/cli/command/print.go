package command

import (
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/redact/visible"
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
		data, err = visible.JSON(data, a.mask.known(), layout...)
	}
	if err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	a.Print("%s\n", data)
	return nil
}

// PrintFields prints names and values below each other, without empty values.
func (a *Invocation) PrintFields(width int, fields ...[2]string) {
	for _, f := range fields {
		if f[1] != "" {
			a.Print("%-*s %s\n", width, f[0], redact.Line(f[1], 400))
		}
	}
}
