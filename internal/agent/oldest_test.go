package agent_test

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/process"
	"signalbox/internal/process/processtest"
)

// silent reads a program that tells nothing.
type silent struct{}

func (silent) Line([]byte) ([]agent.Entry, bool) { return nil, true }

func (silent) End(process.Result, string) agent.Ending { return agent.Ending{} }

func TestAProgramThatIsTooOldIsNamedWithTheCommandThatUpdatesIt(t *testing.T) {
	t.Parallel()
	for version, old := range map[string]bool{"1.0.67 (Claude Code)": true, "2.0.0": true, "2.0.1 (Claude Code)": false, "v10.0.0": false,
		"2.0.1-beta.1": true, "a build of my own": false} {
		path := filepath.Join(t.TempDir(), "claude")
		if err := processtest.WriteProgram(path, []byte("#!/bin/sh\necho '"+version+"'\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		p := agent.Program{Agent: "it", Title: "Claude Code", Oldest: "2.0.1", Install: "npm install -g it", Args: []string{path}}
		_, err := p.Version(t.Context())
		if errors.Is(err, agent.ErrTooOld) != old {
			t.Errorf("%s: %v", version, err)
		}
		if old && !strings.Contains(err.Error(), "needs 2.0.1 or newer: npm install -g it@latest") {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// The words are what Claude Code 1.0.67 and 2.0.1 printed, Codex' library for arguments, and that of the others.
func TestAProgramThatRefusesItsArgumentsIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]agent.FailureCode{
		"error: unknown option '--setting-sources=user'": agent.Unavailable,
		"error: option '--permission-mode <mode>' argument 'manual' is invalid. Allowed choices are acceptEdits, bypassPermissions, default, plan.": agent.Unavailable,
		"error: unexpected argument '--ignore-user-config' found\n\nUsage: codex exec [OPTIONS] [PROMPT]":                                           agent.Unavailable,
		"Options:\n  --help\n\nUnknown argument: acp": agent.Unavailable,
		"TypeError: something is undefined":           agent.Crashed,
	} {
		p := agent.Program{Agent: "it", Install: "npm install -g it", Args: []string{"/bin/sh", "-c", `printf '%s\n' "$1" >&2; exit 1`, "sh", said}, Reader: silent{}}
		result, err := p.Run(t.Context(), agent.Task{Role: "implementer", Dir: t.TempDir(), Log: io.Discard, Total: time.Minute, OutputLimit: 1 << 20}, host{})
		if err != nil {
			t.Fatal(err)
		}
		if f := result.Failure; f == nil || f.Code != want || want == agent.Unavailable && !strings.Contains(f.Message, "update it: npm install -g it@latest") {
			t.Errorf("%q: %+v", said, f)
		}
	}
}
