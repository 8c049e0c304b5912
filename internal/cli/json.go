package cli

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/workflow"
)

// printJSON prints one document, as the files have it, indented.
func (a *app) printJSON(value any) error {
	data, err := json.Marshal(value, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	a.print("%s\n", data)
	return nil
}

// printRuns prints one run as itself and several as a list.
func (a *app) printRuns(runs []workflow.Run) error {
	if len(runs) == 1 {
		return a.printJSON(runs[0])
	}
	return a.printJSON(runs)
}

// printJSONLine prints one document on one line, for streams.
func (a *app) printJSONLine(value any) error {
	data, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	a.print("%s\n", data)
	return nil
}
