package document

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"signalbox/internal/app/documents"
	"signalbox/internal/cli/command"
	"signalbox/internal/redact"
	"signalbox/internal/redact/visible"
	"signalbox/internal/store"
)

func newDocumentWatch(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "watch [PATH...]", Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.Opener.OpenStoreToRead(c.Context())
			if err != nil {
				return err
			}
			defer func() { _ = s.Close() }()
			var paths []string
			for _, file := range args {
				path, err := s.Rel(filepath.Clean(documents.Path(a.Opener.Dir, file)))
				if err != nil {
					return command.UsageError("name files and folders of this project", "%w", err)
				}
				paths = append(paths, path)
			}
			changes, err := s.WatchDocuments(c.Context(), paths...)
			if err != nil {
				return err
			}
			a.Say("watching the documents; end it with Ctrl-C")
			redactor := a.Opener.Redactor()
			for change := range changes {
				line, err := changeLine(change, redactor)
				if err != nil {
					return fmt.Errorf("show %s: %w", change.Path, err)
				}
				a.Print("%s\n", line)
			}
			return nil
		},
	}
}

// changeLine is one line of the watch.
func changeLine(change store.Change, redactor *redact.Redactor) ([]byte, error) {
	line := struct {
		Path     string         `json:"path"`
		At       time.Time      `json:"at"`
		Kind     store.Kind     `json:"kind"`
		Document jsontext.Value `json:"document,omitempty"`
		Error    string         `json:"error,omitempty"`
		Removed  bool           `json:"removed,omitzero"`
	}{Path: change.Path, At: time.Now().UTC(), Kind: change.Kind, Removed: change.Document == nil && change.Err == nil}
	if change.Err != nil {
		line.Error = redactor.String(redact.Clean(change.Err.Error()))
	}
	if change.Document != nil {
		data, err := json.Marshal(change.Document, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
		if err == nil {
			line.Document, err = visible.JSON(data, redactor)
		}
		if err != nil {
			return nil, err
		}
	}
	return json.Marshal(line, jsontext.PreserveRawStrings(true))
}
