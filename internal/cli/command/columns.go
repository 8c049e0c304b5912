package command

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Columns is where lines of cells with tabs between them go: as they are for a program, aligned
// and below the names of the columns for a person. Flush ends them.
func (a *Invocation) Columns(names ...string) (out io.Writer, flush func() error) {
	if !a.Terminal {
		return a.Out, func() error { return nil }
	}
	table := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, strings.Join(names, "\t"))
	return table, table.Flush
}

// SayAtMost is how much of one line is shown, in runes: an engine's whole complaint with the
// advice behind it, and no page of HTML.
const SayAtMost = 1000
