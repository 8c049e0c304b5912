package document

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
)

func newDocumentCat(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:  "cat FILE",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return cat(a, args[0]) },
	}
}

func cat(a *command.Invocation, file string) error {
	data, err := readDocument(a, file)
	if err != nil {
		return err
	}
	redactor := a.Opener.Redactor()
	decoder := jsontext.NewDecoder(bytes.NewBuffer(data))
	for number := 0; ; number++ {
		value, err := decoder.ReadValue()
		if err != nil && number > 0 && len(bytes.TrimSpace(data[decoder.InputOffset():])) == 0 {
			return nil
		}
		if err == nil {
			value, err = command.VisibleJSON(value, redactor, jsontext.WithIndent("  "))
		}
		if err != nil {
			a.Print("%s\n", redactor.String(redact.Clean(string(data[decoder.InputOffset():]))))
			return &problem.Error{Err: fmt.Errorf("%s: not JSON: %w", file, err), Hint: "see what is wrong with it: signalbox document validate " + file}
		}
		a.Print("%s\n", value)
	}
}
