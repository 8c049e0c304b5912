package session

import (
	"testing"

	"signalbox/internal/process"
)

func TestKeysThatInterruptReachTheAgent(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	c := shell(42, Terminal, "")
	c.Args = []string{"bash", "-c", `trap 'echo interrupted; exit' INT; echo ready; while :; do read -t 1 <> <(:); done`}
	x := started(t, s, c)
	ours, _, _ := attached(t, x, process.TerminalSize{Rows: 30, Columns: 90}, "ready")
	ours.types(t, "\x03")
	ours.sees(t, "interrupted")
	ended(t, x)
}
