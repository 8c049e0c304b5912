package session

import (
	"strings"
	"testing"

	"signalbox/internal/redact"
	"signalbox/internal/session/terminal"
)

// What stood on an interface is read line by line, each line once; the code behind a marker by nobody.
func TestTheTextOfAnInterfaceIsWhatStoodOnIt(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	const code = "QMZV7RTDX2KA"
	c := shell(42, Terminal, "stty -echo; echo begun '"+code+"'; read line; "+interfaceScript+"printf '\\033[12;1Hready!'; read line; "+
		"printf '\\033[2J\\033[H"+terminal.Marker(terminal.Complete, 42)+" "+code+"\\nlast!\\n'; read line; printf '\\033[?1049l'")
	c.Code = code
	x := started(t, s, c)
	events := watched(t, x)
	for _, step := range []string{"begun [redacted]", "ready!", "last!"} {
		told := toldUntil(t, events, step)
		if len(told) == 0 || told[len(told)-1] != step {
			t.Fatalf("told %q before %q", told, step)
		}
		if err := x.Nudge(within(t), "on"); err != nil {
			t.Fatal(err)
		}
	}
	if info := ended(t, x); info.Outcome == nil || info.Outcome.Kind != terminal.Complete || info.Outcome.Source != Marked {
		t.Errorf("it came to %+v", info.Outcome)
	}
	text := readText(t, x)
	for _, once := range []string{"begun [redacted]", "HEADER\n", "6000 working\n", "ready!\n", terminal.Marker(terminal.Complete, 42) + " [redacted]\n", "last!\n"} {
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

// A program that moves about on the screen can print the end of a secret before its beginning.
func TestASecretThatAnInterfacePutsTogetherIsHidden(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-canary-value"
	c := shell(42, Terminal, "stty -echo; "+interfaceScript+"printf '\\033[5;16H%s\\033[5;1Hkey is %s\\033[6;1Hready!' canary-value hunter2-; read line; printf '\\033[?1049l'")
	c.Secrets = map[string]string{"MY_TOKEN": secret}
	x := started(t, newSessions(t), c)
	events := watched(t, x)
	told := toldUntil(t, events, "ready!")
	if err := x.Nudge(within(t), "on"); err != nil {
		t.Fatal(err)
	}
	ended(t, x)
	if all := strings.Join(told, "\n") + readText(t, x); strings.Contains(all, secret) || !strings.Contains(all, "key is [redacted]") {
		t.Errorf("told %q", all)
	}
}

// The end of a sequence is held back where it may begin a secret. When the program then draws, that end is never
// told, and what is told next must not be taken for it.
func TestASequenceThatIsHeldBackSwallowsNothingOfAnInterface(t *testing.T) {
	t.Parallel()
	const secret = "KMZV7RTDX2KA" // begins as the sequence ends that erases a line
	for name, hide := range map[string]func(*Config){
		"the marker's code": func(c *Config) { c.Code = secret },
		"a secret":          func(c *Config) { c.Secrets = map[string]string{"MY_TOKEN": secret} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := shell(42, Terminal, "stty -echo; printf 'begun\\n\\033[K'; read line; printf '\\033[?1049h\\033[5;1Hready!'; read line; printf '\\033[?1049l'")
			hide(&c)
			x := started(t, newSessions(t), c)
			events := watched(t, x)
			for _, step := range []string{"begun", "ready!"} {
				if told := toldUntil(t, events, step); len(told) == 0 || told[len(told)-1] != step {
					t.Fatalf("told %q before %q", told, step)
				}
				if err := x.Nudge(within(t), "on"); err != nil {
					t.Fatal(err)
				}
			}
			ended(t, x)
			if text := redact.Clean(readText(t, x)); !strings.Contains(text, "ready!\n") {
				t.Errorf("it is %q", text)
			}
		})
	}
}
