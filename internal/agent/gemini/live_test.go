//go:build agents

package gemini_test

import (
	"testing"

	"signalbox/internal/agent/gemini"
	"signalbox/internal/agent/livetest"
)

func TestLive(t *testing.T) {
	t.Parallel()
	livetest.Run(t, "gemini", livetest.With(gemini.New, "gemini-2.5-flash"))
}
