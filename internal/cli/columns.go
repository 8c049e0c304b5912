package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// columns is where lines of cells with tabs between them go: as they are for a program, aligned
// and below the names of the columns for a person. Flush ends them.
func (a *invocation) columns(names ...string) (out io.Writer, flush func() error) {
	if !a.Terminal {
		return a.Out, func() error { return nil }
	}
	table := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, strings.Join(names, "\t"))
	return table, table.Flush
}

// say tells a person what a program sees by an empty output.
func (a *invocation) say(line string) { _, _ = fmt.Fprintln(a.Err, line) }
