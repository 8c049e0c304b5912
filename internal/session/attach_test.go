package session

import (
	"slices"
	"strings"
	"testing"

	"signalbox/internal/process"
)

func TestWhoLeavesHasTheirTerminalAsItWas(t *testing.T) {
	t.Parallel()
	x := started(t, newSessions(t), shell(42, Terminal, "printf '\\033[>7u\\033[?1003h\\033[?1049h'; echo ready; stty raw; cat"))
	p, left, _ := attached(t, x, process.TerminalSize{Rows: 30, Columns: 100}, "ready")
	p.types(t, "\x1b[9")
	p.types(t, "2;5u")
	if l := <-left; !l.detached || l.err != nil {
		t.Fatalf("left with %+v", l)
	}
	p.sees(t, "\x1b[?1003l\x1b[?1049l\x1b[<1u")
}

func TestAnEscapeIsTypedAtOnce(t *testing.T) {
	t.Parallel()
	x := started(t, newSessions(t), shell(42, Terminal, "stty raw -echo; echo ready; dd bs=1 count=1 2>/dev/null | od -An -c; read line"))
	p, _, _ := attached(t, x, process.TerminalSize{}, "ready")
	p.types(t, "\x1b")
	p.sees(t, "033")
}

// interfaceScript draws a screen once, and then only one line of it, over and over.
const interfaceScript = `printf '\033[?1049h\033[?1003h\033[2J\033[HHEADER\n'; i=0; while [ $i -lt 6000 ]; do i=$((i+1)); printf '\033[10;1H\033[1m%s working\033[m' $i; done; `

func TestWhoAttachesLateSeesTheWholeScreen(t *testing.T) {
	t.Parallel()
	x := started(t, newSessions(t), shell(42, Terminal, interfaceScript+"printf '\\033[12;1Hready'; read line"))
	attached(t, x, process.TerminalSize{Rows: 24, Columns: 80}, "ready")
	late, _, _ := attached(t, x, process.TerminalSize{Rows: 24, Columns: 80}, "ready")
	late.mu.Lock()
	shown := late.shown.String()
	late.mu.Unlock()
	for _, want := range []string{"\x1b[?1049h", "\x1b[?1003h", "\x1b[1HHEADER", "6000 working"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in %q", want, shown)
		}
	}
	if len(shown) > 1000 {
		t.Errorf("it is not a picture: %d bytes", len(shown))
	}
}

func TestAnInterfaceDrawsItselfForWhoAttachesLate(t *testing.T) {
	t.Parallel()
	// The shell may have gone to sleep when a signal comes: it draws when it wakes up.
	x := started(t, newSessions(t), shell(42, Terminal, "n=0; trap 'n=$((n+1)); echo drawn $n at $(stty size)' WINCH; printf '\\033[2J\\033[Hready'; while :; do sleep 0.1; done"))
	first, _, _ := attached(t, x, process.TerminalSize{}, "ready")
	size := process.TerminalSize{Rows: 30, Columns: 100}
	attached(t, x, size, "drawn 1 at ")
	attached(t, x, size, "drawn 2 at ") // though the size is the same
	first.sees(t, " at 30 100")
}

func TestAReplayBeginsBetweenSequencesWithTheModesOfThere(t *testing.T) {
	t.Parallel()
	a := newTerminals()
	_, _ = a.Write([]byte("\x1b[?2004h\x1b[>7u"))
	piece := []byte("\x1b[38;2;100;100;100mé\x1b]0;title\a")
	for range 20_000 {
		_, _ = a.Write(piece)
	}
	queue := a.join().take(nil).output
	rest, found := strings.CutPrefix(string(queue), "\x1b[>7u\x1b[?2004h")
	if !found || len(rest) < recentLimit || len(rest) > 3*recentLimit {
		t.Fatalf("%d bytes, beginning with %.60q", len(queue), queue)
	}
	if begins := slices.ContainsFunc([]string{"\x1b[38", "é\x1b]0", "\x1b]0;"}, func(part string) bool { return strings.HasPrefix(rest, part) }); !begins {
		t.Errorf("it begins with %.40q", rest)
	}
}

func TestPeopleAttachDetachAndResize(t *testing.T) {
	t.Parallel()
	x := started(t, newSessions(t), shell(42, Terminal, "trap 'stty size' WINCH; echo ready; while read line; do echo heard $line; done; while :; do read line && echo heard $line; done"))
	first, left, resize := attached(t, x, process.TerminalSize{Rows: 30, Columns: 100}, "ready")
	first.types(t, "one\n")
	first.sees(t, "heard one")
	resize <- process.TerminalSize{Rows: 31, Columns: 101}
	first.sees(t, "31 101")

	second := newPerson(t)
	secondLeft, _ := second.attach(t, x, process.TerminalSize{Rows: 40, Columns: 120})
	second.sees(t, "heard one") // what was shown before
	first.sees(t, "40 120")     // the size of the last
	second.types(t, "two\n")
	first.sees(t, "heard two")
	second.sees(t, "heard two")

	first.types(t, "\x1c")
	if l := <-left; !l.detached || l.err != nil {
		t.Fatalf("left with %+v", l)
	}
	second.types(t, "three\n")
	second.sees(t, "heard three")
	if err := x.Stop(within(t)); err != nil {
		t.Fatal(err)
	}
	if l := <-secondLeft; l.detached || l.err != nil {
		t.Errorf("left with %+v", l)
	}
}
