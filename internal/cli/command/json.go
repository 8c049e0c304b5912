package command

import (
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/commandline"
	"signalbox/internal/workflow"
)

// withCommands gives each step of a document its command, too.
var withCommands = sync.OnceValue(func() json.Options {
	return json.WithMarshalers(json.JoinMarshalers(commandline.Published(), commandline.Typed()))
})

// PrintJSON prints one document, as the files have it, indented, and each step with the command that takes it.
func (a *Invocation) PrintJSON(value any) error {
	return a.printJSON(value, jsontext.WithIndent("  "))
}

// printJSON masks each text as it is read, and not as JSON spells it: an escape within a secret would split it.
func (a *Invocation) printJSON(value any, options ...json.Options) error {
	data, err := json.Marshal(value, append(options, json.Deterministic(true), withCommands())...)
	if err == nil {
		data, err = VisibleJSON(data, a.mask.known(), options...)
	}
	if err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	a.Print("%s\n", data)
	return nil
}

// PrintRuns prints one run as itself and several as a list.
func (a *Invocation) PrintRuns(runs []workflow.Run) error {
	if len(runs) == 1 {
		return a.PrintJSON(runs[0])
	}
	return a.PrintJSON(runs)
}

// PrintJSONLine prints one document on one line, for streams.
func (a *Invocation) PrintJSONLine(value any) error {
	return a.printJSON(value)
}
