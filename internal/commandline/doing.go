package commandline

import (
	"fmt"
	"strings"

	"signalbox/internal/workflow"
)

// Doing is what a run is at, in a line: with a question, how to answer it.
func Doing(run *workflow.Run) string {
	if q := run.Details.Question; q != nil {
		return fmt.Sprintf("waits for an answer (signalbox answer %s): %s", run.Ref(), q.Line1())
	}
	said := run.Progress.Message
	if until := run.Details.ParkedUntil; until != nil && strings.HasPrefix(said, "parked until ") {
		_, why, _ := strings.Cut(said, ": ") // a document's time is UTC
		return fmt.Sprintf("parked until %s: %s", When(*until), why)
	}
	return said
}
