package document

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/store"
)

func newDocumentWatch(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:  "watch [PATH...]",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return watchDocuments(c.Context(), a, args) },
	}
}

// news is one line of the watch.
type news struct {
	Path     string         `json:"path"`
	At       time.Time      `json:"at"`
	Kind     store.Kind     `json:"kind"`
	Document jsontext.Value `json:"document,omitempty"`
	Error    string         `json:"error,omitempty"`
	Removed  bool           `json:"removed,omitzero"`
}

func watchDocuments(ctx context.Context, a *command.Invocation, files []string) error {
	s, err := a.Opener.OpenStoreToRead(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	var paths []string
	for _, file := range files {
		path, err := s.Rel(filepath.Clean(absolute(a, file)))
		if err != nil {
			return &problem.Error{Err: err, Hint: "name files and folders of this project", Code: problem.Usage}
		}
		paths = append(paths, path)
	}
	changes, err := s.WatchDocuments(ctx, paths...)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(a.Err, "watching the documents; end it with Ctrl-C")
	redactor := a.Opener.Redactor()
	for change := range changes {
		line, err := newsOf(change, redactor)
		if err != nil {
			return err
		}
		a.Print("%s\n", line)
	}
	return nil
}

func newsOf(change store.Change, redactor *redact.Redactor) ([]byte, error) {
	line := news{Path: change.Path, At: time.Now().UTC(), Kind: change.Kind, Removed: change.Document == nil && change.Err == nil}
	if change.Err != nil {
		line.Error = redactor.String(redact.Clean(change.Err.Error()))
	}
	if change.Document != nil {
		data, err := json.Marshal(change.Document, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
		if err == nil {
			line.Document, err = command.VisibleJSON(data, redactor)
		}
		if err != nil {
			return nil, fmt.Errorf("show %s: %w", change.Path, err)
		}
	}
	data, err := json.Marshal(line, jsontext.PreserveRawStrings(true))
	if err != nil {
		return nil, fmt.Errorf("show %s: %w", change.Path, err)
	}
	return data, nil
}
