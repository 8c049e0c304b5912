//go:build agents

package codex_test

import (
	"testing"

	"signalbox/internal/agent/codex"
	"signalbox/internal/agent/livetest"
)

func TestLive(t *testing.T) {
	t.Parallel()
	livetest.Run(t, "codex", livetest.With(codex.New, "gpt-5"), livetest.Fences)
}
