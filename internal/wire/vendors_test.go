package wire

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/process/processtest"
)

// Each driver knows the oldest version of its program that works, and refuses what is older with what to type.
func TestEveryVendorsOldestVersionIsKnownAndOlderOnesAreRefused(t *testing.T) {
	t.Parallel()
	for _, v := range Vendors {
		t.Run(v.Title, func(t *testing.T) { // not parallel: a fork beside keeps a program open that was just written, and it can't be started
			for version, old := range map[string]bool{v.Oldest: false, v.Oldest + "-preview.1": true, "0.0.9": true, "99.0.0": false} {
				program := filepath.Join(t.TempDir(), v.Driver)
				if err := processtest.WriteProgram(program, []byte("#!/bin/sh\necho '"+v.Driver+" "+version+"'\n"), 0o700); err != nil {
					t.Fatal(err)
				}
				a, err := v.Build(agent.Settings{Name: "it", Program: program, Permissions: agent.Everything})
				if err != nil {
					t.Fatal(err)
				}
				_, err = a.Check(t.Context())
				if errors.Is(err, agent.ErrTooOld) != old || !old && err != nil {
					t.Errorf("%s: %v", version, err)
				}
				if old && !strings.HasSuffix(err.Error(), "Signalbox needs "+v.Oldest+" or newer: "+v.Install+"@latest") {
					t.Errorf("%s: %v", version, err)
				}
			}
		})
	}
}
