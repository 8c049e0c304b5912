package session

import (
	"testing"

	"signalbox/internal/session/terminal"
)

// A client that types and leaves at once is no longer there when the host tells it what was printed since.
func TestWhatWasTypedBeforeLeavingIsTyped(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	for issue := 1; issue <= 20; issue++ {
		c := shell(issue, Terminal, "")
		c.Args = []string{"bash", "-c", `until read -t 0; do echo more; done; read line; [ "$line" = typed ] && echo '` + terminal.Marker(terminal.Complete, issue) + `'`}
		x := started(t, s, c)
		conn, _, err := x.request(t.Context(), request{Op: opAttach})
		if err == nil {
			err = (&frames{to: conn}).send(frameInput, []byte("typed\r"))
		}
		if err == nil {
			err = conn.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if info := waited(t, x); info.Outcome.Kind != terminal.Complete {
			t.Errorf("came to %+v", info.Outcome)
		}
	}
}
