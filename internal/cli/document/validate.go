package document

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/schema"
	"signalbox/internal/store"
	strictjson "signalbox/internal/store/strict"
)

func newDocumentValidate(a *command.Invocation) *cobra.Command {
	var kind string
	c := &cobra.Command{
		Use:  "validate FILE...",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return validateDocuments(a, store.Kind(kind), args) },
	}
	c.Flags().StringVar(&kind, "kind", "", "which document it is: "+strings.Join(kindNames(), ", "))
	_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kindNames(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// verdict is what is said of one file.
type verdict struct {
	Path     string     `json:"path"`
	Kind     store.Kind `json:"kind"`
	Valid    bool       `json:"valid"`
	Problems []flaw     `json:"problems"`
}

type flaw struct {
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Reason string `json:"reason"`
}

func validateDocuments(a *command.Invocation, kind store.Kind, files []string) error {
	if kind != "" && !slices.Contains(store.Kinds, kind) {
		return &problem.Error{Err: fmt.Errorf("--kind is %q", kind), Hint: "want one of " + strings.Join(kindNames(), ", "), Code: problem.Usage}
	}
	verdicts := []verdict{}
	broken := 0
	for _, file := range files {
		v, err := validateDocument(a, kind, file)
		if err != nil {
			return err
		}
		if !v.Valid {
			broken++
		}
		verdicts = append(verdicts, v)
		showVerdict(a, v)
	}
	if a.JSON {
		if err := a.PrintJSON(verdicts); err != nil {
			return err
		}
	}
	if broken == 0 {
		return nil
	}
	return &problem.Error{Err: fmt.Errorf("%d of %d documents not valid", broken, len(files)), Code: problem.General,
		Hint: `fix it by hand, or have what an older writer left fixed: signalbox document migrate`}
}

func showVerdict(a *command.Invocation, v verdict) {
	if a.JSON {
		return
	}
	if v.Valid {
		a.Print("%s: valid (%s)\n", redact.Clean(v.Path), v.Kind)
	}
	for _, p := range v.Problems {
		a.Print("%s:%d:%d: %s\n", redact.Clean(v.Path), p.Line, p.Column, redact.Line(p.Reason, 400))
	}
}

func validateDocument(a *command.Invocation, kind store.Kind, file string) (verdict, error) {
	data, err := readDocument(a, file)
	if err != nil {
		return verdict{}, err
	}
	if kind == "" {
		var ok bool
		if kind, ok = store.KindOf(absolute(a, file), data); !ok {
			return verdict{}, &problem.Error{Err: fmt.Errorf("%s: neither its name nor what is in it says which document this is", file),
				Hint: "say it: --kind " + strings.Join(kindNames(), "|"), Code: problem.Usage}
		}
	}
	flaws, err := flaws(a, kind, absolute(a, file), data)
	return verdict{Path: file, Kind: kind, Valid: len(flaws) == 0, Problems: flaws}, err
}

// flaws are those that the reader refuses; only where there are none, what the schema adds.
func flaws(a *command.Invocation, kind store.Kind, path string, data []byte) ([]flaw, error) {
	found := []flaw{}
	refused := store.Validate(kind, path, data)
	if len(refused) == 0 && kind == store.KindStage {
		planning, err := readDocument(a, filepath.Join(filepath.Dir(path), "planning.json"))
		switch {
		case err == nil:
			refused = store.ValidateSteps(path, data, planning)
		case !errors.Is(err, os.ErrNotExist):
			return nil, err
		}
	}
	for _, r := range refused {
		found = append(found, flaw{r.Line, r.Column, r.Reason})
	}
	if len(found) > 0 {
		return found, nil
	}
	return schemaFlaws(kind, data)
}

func schemaFlaws(kind store.Kind, data []byte) ([]flaw, error) {
	found := []flaw{}
	documents := [][]byte{data}
	if kind == store.KindEvents {
		documents = splitLines(data)
	}
	for i, document := range documents {
		breaches, err := schema.Check(string(kind), document)
		if err != nil {
			return nil, err
		}
		for _, b := range breaches {
			line, column := strictjson.Locate(document, b.Pointer)
			found = append(found, flaw{i + line, column, strings.TrimPrefix(b.Pointer+": "+b.Reason, ": ")})
		}
	}
	slices.SortStableFunc(found, func(x, y flaw) int { return x.Line - y.Line })
	return found, nil
}

func splitLines(data []byte) (lines [][]byte) {
	for line := range strings.Lines(string(data)) {
		lines = append(lines, []byte(line))
	}
	return lines
}

const documentNames = "documents are environments.json, state.json, .worktrees/.status/*.json and runs/*/*/{stage,planning,errors}.json; - is standard input"

// readDocument reads a file that a person names, never more than a document may have.
func readDocument(a *command.Invocation, file string) ([]byte, error) {
	in := a.In
	if file != "-" {
		opened, err := os.Open(absolute(a, file))
		if err != nil {
			return nil, &problem.Error{Err: fmt.Errorf("read document: %w", err), Hint: documentNames}
		}
		defer func() { _ = opened.Close() }()
		in = opened
	}
	data, err := io.ReadAll(io.LimitReader(in, store.MaxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("read document %s: %w", file, err)
	}
	return data, nil
}

func absolute(a *command.Invocation, file string) string {
	if file == "-" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(a.Opener.Dir, file)
}
