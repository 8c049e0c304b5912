package engine_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"signalbox/internal/environment/container/engine"
	"signalbox/internal/process"
)

// complains is an executor whose programs fail with a long complaint.
type complains struct{ text string }

func (c complains) Exec(_ context.Context, command process.Command) (process.Result, error) {
	_, err := io.WriteString(command.Stderr, c.text)
	return process.Result{Ending: process.Exited, ExitCode: 1}, err
}

func TestALongComplaintIsCutWithAMark(t *testing.T) {
	t.Parallel()
	for text, cut := range map[string]bool{strings.Repeat("x", engine.Shown): false, strings.Repeat("x", engine.Shown+1): true} {
		_, err := engine.Engine{Program: "/bin/docker", Exec: complains{text}}.Do(t.Context(), engine.Order{Op: engine.OpLogs})
		if err == nil || strings.Contains(err.Error(), "…") != cut {
			t.Errorf("%d bytes give %v", len(text), err)
		}
	}
}
