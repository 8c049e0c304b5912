package replay_test

import (
	"context"
	"os"
	"testing"

	"signalbox/internal/agent/replay"
)

// asAgent, as the first argument, makes the test binary the agent's program.
const asAgent = "replay-agent"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asAgent {
		os.Exit(replay.Main(context.Background(), os.Args[2:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}
