//go:build agents

package claude_test

import (
	"testing"

	"signalbox/internal/agent/claude"
	"signalbox/internal/agent/livetest"
)

func TestLive(t *testing.T) {
	t.Parallel()
	livetest.Run(t, "claude", livetest.With(claude.New, "claude-sonnet-4-5"))
}

func TestLiveAsks(t *testing.T) {
	livetest.Asks(t, "claude", livetest.With(claude.New, "claude-sonnet-4-5"))
}
