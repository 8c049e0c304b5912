package redact

import (
	"bytes"
	"unicode/utf8"
)

const (
	escape = 0x1b
	bell   = '\a'
	csi    = '\u009b' // the one-character forms of ESC [, ESC ] and so on
	osc    = '\u009d'
	dcs    = '\u0090'
	sos    = '\u0098'
	st     = '\u009c'
	pm     = '\u009e'
	apc    = '\u009f'
)

// sequenceLimit is how many bytes an escape sequence may have. A longer one hides nothing, so that a
// stream holds back no more than this and has the same result as a whole text.
const sequenceLimit = 8 << 10

// unseen returns how many bytes at the start of text a reader doesn't see: a whole escape sequence,
// or one character; 0 if text starts with something visible. It returns false if the bytes that
// follow decide that, which never happens when text is final.
//
// Clean removes what is unseen, and a Redactor looks through it. Both call this, so no text can hold
// a secret that only cleaning puts together.
func unseen(text []byte, final bool) (n int, decided bool) {
	switch b := text[0]; {
	case b == escape && len(text) == 1:
		return 1, final
	case b == escape && '@' <= text[1] && text[1] <= '_': // the same as one C1 character
		return controls(rune(text[1])+0x40, text, 2, final)
	case b == escape:
		return ends(text, 1+run(text[1:], ' ', '/'), '0', '~', final)
	case b == '\n', b == '\t', ' ' <= b && b < 0x7f:
		return 0, true
	case b <= 0x7f:
		return 1, true
	case !utf8.FullRune(text) && !final:
		return 0, false
	}
	r, size := utf8.DecodeRune(text)
	if r == utf8.RuneError && size == 1 && text[0] <= apc {
		r = rune(text[0]) // a C1 control in eight bits, as terminals without UTF-8 take it
	}
	if 0x80 <= r && r <= apc {
		return controls(r, text, size, final)
	}
	if invisible(r) {
		return size, true
	}
	return 0, true
}

// controls returns the length of the sequence that the C1 character r of so many bytes starts.
func controls(r rune, text []byte, size int, final bool) (n int, decided bool) {
	switch r {
	case csi:
		n = size + run(text[size:], '0', '?')
		return ends(text, n+run(text[n:], ' ', '/'), '@', '~', final)
	case osc, dcs, sos, pm, apc:
		length, decided := controlString(text[size:], final)
		return size + length, decided
	}
	return size, true
}

// ends returns the length of a sequence of n bytes plus its final byte, which must lie between first and last.
func ends(text []byte, n int, first, last byte, final bool) (int, bool) {
	if n >= sequenceLimit {
		return sequenceLimit, true
	}
	if n == len(text) {
		return n, final
	}
	return n + run(text[n:n+1], first, last), true
}

// controlString returns the length of the text after OSC and its like, up to its terminator. One
// that doesn't end on its line is no control string: nothing may hide the rest of a text.
func controlString(text []byte, final bool) (n int, decided bool) {
	whole := len(text) >= sequenceLimit
	text = text[:min(len(text), sequenceLimit)]
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		text, whole = text[:end], true
	}
	for i, b := range text {
		switch {
		case b == bell:
			return i + 1, true
		case b == escape && i+1 < len(text) && text[i+1] == '\\':
			return i + 2, true
		case b == 0xc2 && i+1 < len(text) && text[i+1] == 0x9c: // ST
			return i + 2, true
		}
	}
	return 0, whole || final
}

// invisible reports whether r is a character that a reader doesn't see.
func invisible(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < ' ', 0x7f <= r && r <= 0x9f: // C0, DEL, C1
	case r == 0x061c, 0x200e <= r && r <= 0x200f, 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069: // direction
	case 0x200b <= r && r <= 0x200d, 0x2060 <= r && r <= 0x2065, r == 0x180e, r == 0xfeff: // no width
	case r == 0x00ad, r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0: // fillers
	case 0x206a <= r && r <= 0x206f, 0xfff9 <= r && r <= 0xfffb: // deprecated and interlinear controls
	case 0xfe00 <= r && r <= 0xfe0f, 0xe0100 <= r && r <= 0xe01ef: // variation selectors
	case 0xe0000 <= r && r <= 0xe007f: // tags
	default:
		return false
	}
	return true
}

// run returns how many bytes at the start of text lie between first and last.
func run(text []byte, first, last byte) int {
	for i, b := range text {
		if b < first || last < b {
			return i
		}
	}
	return len(text)
}
