package terminal

import (
	"slices"
	"strings"
	"testing"
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
				keys := LeaveKey{Key: 0x1c}
				var typed []byte
				left := false
				for _, piece := range pieces {
					if !left {
						var more []byte
						more, left = keys.Take([]byte(piece))
						typed = append(typed, more...)
					}
				}
				if string(typed) != c.typed || left != c.left || len(keys.Rest()) > 0 {
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
	m := NewModes()
	for i := range len(switches) {
		m.Skip([]byte(switches[i:i+1]), 1)
	}
	const back = "\x1b7\x1b[r\x1b8\x1b[m\x1b[0 q\x1b[>4m\x1b>\x1b[?25h\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[<1u\x1b[?1049l\x1b[<1u"
	if got := string(m.Reset()); got != back {
		t.Errorf("taken back by %q", got)
	}
	again := NewModes()
	again.Skip(m.Restore(), len(m.Restore()))
	if got := string(again.Restore()); got != string(m.Restore()) || again.Alternate() != m.Alternate() {
		t.Errorf("made anew by %q, then by %q", m.Restore(), got)
	}
	m.Skip([]byte(back), len(back))
	if got := string(m.Restore()) + string(m.Reset()); got != "" {
		t.Errorf("taken back, and then again by %q", got)
	}
}

func TestNothingIsCutInASequenceOrACharacter(t *testing.T) {
	t.Parallel()
	const text = "a\x1b[38;5;1mé\x1b]0;title\a漢b"
	whole := []int{0, 1, 10, 12, 22, 25, 26}
	for n := range len(text) {
		at := NewModes().Skip([]byte(text), n)
		if want := whole[slices.IndexFunc(whole, func(end int) bool { return end >= n })]; at != want {
			t.Errorf("%d bytes are cut at %d, want %d", n, at, want)
		}
	}
}
