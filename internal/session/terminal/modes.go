package terminal

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// Modes are what a program has switched on in its terminal, and what outlives the program there: the
// alternate screen, mouse reports, keys that come as sequences, a hidden cursor. Restore sets them for a
// person who attaches late, and Reset takes them back when the person leaves.
type Modes struct {
	sequence sequence
	private  map[int]bool // private modes that differ from a new terminal's, and their values
	// keys are the keyboard's flags in kitty's protocol, for the main and the alternate screen.
	keys [2]keyboard
	// otherKeys is xterm's modifyOtherKeys; keypad: the keypad sends sequences.
	otherKeys int
	keypad    bool
	// margins, colours and cursor: the scrolling rows, the look of text, and the cursor's shape were set.
	margins, colours, cursor bool
}

// keyboard is a stack of flags, of which the top counts; asked, if not 0, replaces it.
type keyboard struct {
	pushed []int
	asked  int
}

const (
	// modesLimit and keysLimit limit what is remembered of a program that keeps switching.
	modesLimit, keysLimit = 64, 16
	cursorShown           = 25
	autoWrap              = 7
	alternateScreen       = 1049
)

var (
	// usual are the private modes that are on in a new terminal.
	usual = map[int]bool{cursorShown: true, autoWrap: true}
	// alternates are the modes that switch to the alternate screen.
	alternates = map[int]bool{47: true, 1047: true, alternateScreen: true}
)

func NewModes() *Modes {
	m := &Modes{private: map[int]bool{}}
	m.sequence.drop()
	m.sequence.control, m.sequence.escape = m.control, m.escape
	return m
}

// Skip takes the first n bytes of printed p, and more until no sequence and no character is cut. It
// returns how many it took.
func (m *Modes) Skip(p []byte, n int) int {
	for at := 0; ; {
		taken, turned := m.Take(p[at:], n-at)
		if at += taken; !turned {
			return at
		}
	}
}

// Take is Skip, but stops where the program switched to the alternate screen or back.
func (m *Modes) Take(p []byte, n int) (taken int, turned bool) {
	before := m.Alternate()
	for i := 0; i < len(p); i++ {
		switch b := p[i]; {
		case m.sequence.Inside() && b == '\n':
			m.sequence.drop() // as on the screen
		case i >= n && !m.sequence.Inside() && utf8.RuneStart(b):
			return i, false
		case m.sequence.Inside() || b == '\x1b':
			if m.sequence.advance(b); !m.sequence.Inside() && m.Alternate() != before {
				return i + 1, true
			}
		case i < n:
			next := bytes.IndexByte(p[i:n], '\x1b')
			if next < 0 {
				next = n - i
			}
			i += next - 1
		}
	}
	return len(p), false
}

func (m *Modes) escape(final byte) {
	switch {
	case m.sequence.intermediate != 0:
	case final == '=' || final == '>':
		m.keypad = final == '='
	case final == 'c':
		sequence := m.sequence
		*m = Modes{private: map[int]bool{}, sequence: sequence}
	}
}

func (m *Modes) control(final byte) {
	q := &m.sequence
	switch prefix := q.prefix; {
	case prefix == '?' && (final == 'h' || final == 'l'):
		for i := range q.parameters {
			mode := q.number(i, 0)
			on := final == 'h'
			if on == usual[mode] {
				delete(m.private, mode)
			} else if len(m.private) < modesLimit {
				m.private[mode] = on
			}
		}
	case final == 'u' && q.intermediate == 0:
		k := &m.keys[0]
		if m.Alternate() {
			k = &m.keys[1]
		}
		switch prefix {
		case '>':
			if len(k.pushed) < keysLimit {
				k.pushed = append(k.pushed, q.number(0, 0))
			}
		case '<':
			k.pushed, k.asked = k.pushed[:max(0, len(k.pushed)-max(1, q.number(0, 1)))], 0
		case '=':
			k.asked = q.number(0, 0)
		}
	case prefix == '>' && final == 'm' && q.number(0, 0) == 4:
		m.otherKeys = q.number(1, 0)
	case prefix != 0:
	case final == 'q' && q.intermediate == ' ':
		m.cursor = q.number(0, 0) != 0
	case final == 'p' && q.intermediate == '!': // a soft reset
		m.keypad, m.margins, m.colours = false, false, false
		delete(m.private, cursorShown)
		delete(m.private, 1)
	case final == 'r' && q.intermediate == 0:
		m.margins = len(q.parameters) > 0
	case final == 'm' && q.intermediate == 0:
		m.colours = len(q.parameters) > 1 || q.number(0, 0) != 0
	}
}

// Alternate reports whether the alternate screen is shown.
func (m *Modes) Alternate() bool {
	return m.private[47] || m.private[1047] || m.private[alternateScreen]
}

// BracketsPaste reports whether the program wants pasted text in brackets.
func (m *Modes) BracketsPaste() bool { return m.private[2004] }

func (k *keyboard) restore(out *bytes.Buffer) {
	for _, flags := range k.pushed {
		fmt.Fprintf(out, "\x1b[>%du", flags)
	}
	if k.asked != 0 {
		fmt.Fprintf(out, "\x1b[=%du", k.asked)
	}
}

func (k *keyboard) reset(out *bytes.Buffer) {
	if k.asked != 0 {
		out.WriteString("\x1b[=0u")
	}
	if len(k.pushed) > 0 {
		fmt.Fprintf(out, "\x1b[<%du", len(k.pushed))
	}
}

// Restore returns what sets these modes in a new terminal. They don't include the text and its look.
func (m *Modes) Restore() []byte {
	var out bytes.Buffer
	m.keys[0].restore(&out)
	for _, mode := range m.changed(true) {
		fmt.Fprintf(&out, "\x1b[?%dh", mode)
	}
	m.keys[1].restore(&out)
	for _, mode := range m.changed(false) {
		writeMode(&out, mode, m.private[mode])
	}
	if m.otherKeys != 0 {
		fmt.Fprintf(&out, "\x1b[>4;%dm", m.otherKeys)
	}
	if m.keypad {
		out.WriteString("\x1b=")
	}
	return out.Bytes()
}

// Reset returns what makes a terminal with these modes like a new one.
func (m *Modes) Reset() []byte {
	var out bytes.Buffer
	if m.sequence.Inside() {
		out.WriteByte(0x18) // ends it
	}
	for _, part := range []struct {
		set  bool
		back string
	}{{m.margins, "\x1b7\x1b[r\x1b8"}, {m.colours, "\x1b[m"}, {m.cursor, "\x1b[0 q"}, {m.otherKeys != 0, "\x1b[>4m"}, {m.keypad, "\x1b>"}} {
		if part.set {
			out.WriteString(part.back)
		}
	}
	for _, mode := range m.changed(false) {
		writeMode(&out, mode, usual[mode])
	}
	m.keys[1].reset(&out)
	for _, mode := range m.changed(true) {
		writeMode(&out, mode, false)
	}
	m.keys[0].reset(&out)
	return out.Bytes()
}

// changed returns the private modes that differ from a new terminal's: those of the alternate screen, or the others.
func (m *Modes) changed(alternate bool) []int {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(m.private)), func(mode int) bool { return alternates[mode] != alternate })
}

func writeMode(out *bytes.Buffer, mode int, on bool) {
	final := 'l'
	if on {
		final = 'h'
	}
	fmt.Fprintf(out, "\x1b[?%d%c", mode, final)
}
