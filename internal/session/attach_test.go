package session

import (
	"slices"
	"strings"
	"testing"

	"signalbox/internal/process"
)

func TestTheKeyThatLeavesIsFoundHoweverTheTerminalSendsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys, typed string
		left        bool
	}{
		"plain":                       {"ab\x1ccd", "ab", true},
		"kitty":                       {"ab\x1b[92;5ucd", "ab", true},
		"kitty, with caps lock":       {"\x1b[92;69u", "", true},
		"kitty, with all it tells":    {"\x1b[92:124;5:1;28u", "", true},
		"modifyOtherKeys":             {"ab\x1b[27;5;92~", "ab", true},
		"kitty, released":             {"\x1b[92;5:3u", "\x1b[92;5:3u", false},
		"without Ctrl":                {"\x1b[92;2u", "\x1b[92;2u", false},
		"with Alt, too":               {"\x1b[92;7u", "\x1b[92;7u", false},
		"another key":                 {"\x1b[91;5u\x1b[27;5;91~", "\x1b[91;5u\x1b[27;5;91~", false},
		"behind Escape":               {"\x1b\x1b[92;5u", "\x1b", true},
		"behind a key's beginning":    {"\x1b[92;\x1c", "\x1b[92;", true},
		"keys of other kinds":         {"\x1bOA\x1b[A\x1b[<0;1;2Mx\x1b[200~y\x1b[201~\x1bz", "\x1bOA\x1b[A\x1b[<0;1;2Mx\x1b[200~y\x1b[201~\x1bz", false},
		"more numbers than a key has": {"\x1b[" + strings.Repeat("1;", 40) + "u", "\x1b[" + strings.Repeat("1;", 40) + "u", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, pieces := range [][]string{{c.keys}, strings.Split(c.keys, "")} {
				keys := leaveKey{key: DefaultDetach}
				var typed []byte
				left := false
				for _, piece := range pieces {
					if !left {
						var more []byte
						more, left = keys.take([]byte(piece))
						typed = append(typed, more...)
					}
				}
				if string(typed) != c.typed || left != c.left || len(keys.rest()) > 0 {
					t.Errorf("of %q it types %q, leaves: %v", pieces, typed, left)
				}
			}
		})
	}
}

// switches is what real agents' interfaces switch on.
const switches = "\x1b[>1u\x1b[?1049h\x1b[>7u\x1b[?1003h\x1b[?1006;2004h\x1b[>4;2m\x1b[?25l\x1b=\x1b[2;20r\x1b[5 q\x1b[31m"

func TestWhatAProgramSwitchedOnIsTakenBack(t *testing.T) {
	t.Parallel()
	m := newModes()
	for i := range len(switches) {
		_, _ = m.Write([]byte(switches[i : i+1]))
	}
	const back = "\x1b7\x1b[r\x1b8\x1b[m\x1b[0 q\x1b[>4m\x1b>\x1b[?25h\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[<1u\x1b[?1049l\x1b[<1u"
	if got := string(m.reset()); got != back {
		t.Errorf("taken back by %q", got)
	}
	again := newModes()
	_, _ = again.Write(m.restore())
	if got := string(again.restore()); got != string(m.restore()) || again.alternate() != m.alternate() {
		t.Errorf("made anew by %q, then by %q", m.restore(), got)
	}
	_, _ = m.Write([]byte(back))
	if got := string(m.restore()) + string(m.reset()); got != "" {
		t.Errorf("taken back, and then again by %q", got)
	}
}

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
	x := started(t, newSessions(t), shell(42, Terminal, "trap 'echo drawn $(stty size)' WINCH; printf '\\033[2J\\033[Hready'; while :; do read line; done"))
	size := process.TerminalSize{Rows: 30, Columns: 100}
	for range 2 { // the second changes nothing by its size
		p, left, _ := attached(t, x, size, "drawn 30 100")
		p.types(t, "\x1c")
		<-left
	}
	attached(t, x, size, "drawn 29 100")
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

func TestNothingIsCutInASequenceOrACharacter(t *testing.T) {
	t.Parallel()
	const text = "a\x1b[38;5;1mé\x1b]0;title\a漢b"
	whole := []int{0, 1, 10, 12, 22, 25, 26}
	for n := range len(text) {
		at := newModes().skip([]byte(text), n)
		if want := whole[slices.IndexFunc(whole, func(end int) bool { return end >= n })]; at != want {
			t.Errorf("%d bytes are cut at %d, want %d", n, at, want)
		}
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

	second := newTerminal(t)
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
