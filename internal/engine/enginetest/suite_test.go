package enginetest_test

import (
	"testing"

	"signalbox/internal/engine/enginetest"
	"signalbox/internal/store"
)

func TestTheEngineOverRunsInMemory(t *testing.T) {
	t.Parallel()
	enginetest.Suite{Open: func(*testing.T) enginetest.Project { return newMemory() }}.Run(t)
}

func TestTheEngineOverFiles(t *testing.T) {
	t.Parallel()
	enginetest.Suite{Open: func(t *testing.T) enginetest.Project {
		t.Helper()
		s, err := store.Open(t.Context(), store.Config{Root: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}}.Run(t)
}
