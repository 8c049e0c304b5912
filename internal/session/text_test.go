package session

import (
	"strings"
	"testing"
)

// What stood on an interface is read line by line, each line once; the code behind a marker by nobody.
func TestTheTextOfAnInterfaceIsWhatStoodOnIt(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	const code = "QMZV7RTDX2KA"
	c := shell(42, Terminal, "stty -echo; echo begun '"+code+"'; read line; "+interfaceScript+"printf '\\033[12;1Hready!'; read line; "+
		"printf '\\033[2J\\033[H"+Marker(Complete, 42)+" "+code+"\\nlast!\\n'; read line; printf '\\033[?1049l'")
	c.Code = code
	x := started(t, s, c)
	events, err := x.Watch(within(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"begun [redacted]", "ready!", "last!"} {
		told := toldUntil(t, events, step)
		if len(told) == 0 || told[len(told)-1] != step {
			t.Fatalf("told %q before %q", told, step)
		}
		if err := x.Nudge(within(t), "on"); err != nil {
			t.Fatal(err)
		}
	}
	if info := ended(t, x); info.Outcome == nil || info.Outcome.Kind != Complete || info.Outcome.Source != Marked {
		t.Errorf("it came to %+v", info.Outcome)
	}
	text := readText(t, x)
	for _, once := range []string{"begun [redacted]", "HEADER\n", "6000 working\n", "ready!\n", Marker(Complete, 42) + " [redacted]\n", "last!\n"} {
		if strings.Count(text, once) != 1 {
			t.Errorf("%q is there %d times", once, strings.Count(text, once))
		}
	}
	if strings.ContainsRune(text, '\x1b') || len(text) > 2000 {
		t.Errorf("it is %d bytes: %.500q", len(text), text)
	}
	if strings.Contains(text, code) || strings.Contains(output(t, x), code) {
		t.Error("it shows the code")
	}
}

func TestTheTextOfLinesIsWhatWasPrinted(t *testing.T) {
	t.Parallel()
	x := started(t, newSessions(t), shell(42, Terminal, "echo one; printf '\\033[1mtwo\\033[m\\n'"))
	ended(t, x)
	if text := readText(t, x); text != output(t, x) || !strings.Contains(text, "one\r\n") {
		t.Errorf("it is %q", text)
	}
}
