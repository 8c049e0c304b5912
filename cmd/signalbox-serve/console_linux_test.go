package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"signalbox/internal/problem"
)

func TestAPersonReadsAWarningInTwoLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(&console{&slog.HandlerOptions{Level: slog.LevelInfo}, &secrets{}, &out, &sync.Mutex{}, nil}).With("project", "parser")
	err := &problem.Error{Err: errors.New("the configuration is not trusted:\n  tests: make\n  \x1b[2Jtoken=mellon-mellon"), Hint: "look at it, then:\nsignalbox trust"}
	log.Debug("a detail")
	log.Warn("the project waits", "err", fmt.Errorf("open it: %w", err))
	log.Info("ready", "projects", 2)
	lines := strings.Split(out.String(), "\n")
	for i, want := range []string{"warning: parser: the project waits: open it: the configuration is not trusted: tests: make token=[redacted]",
		"         hint: look at it, then: signalbox trust", "parser: ready, projects 2", ""} {
		if len(lines) != 4 || !strings.HasSuffix(lines[i], want) {
			t.Fatalf("it reads, without %q:\n%s", want, out.String())
		}
	}
}
