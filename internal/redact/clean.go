package redact

import (
	"strings"
	"unicode/utf8"
)

const (
	escape = '\x1b'
	bell   = '\a'
	csi    = '\u009b' // the one-character forms of ESC [, ESC ] and so on
	osc    = '\u009d'
	dcs    = '\u0090'
	sos    = '\u0098'
	st     = '\u009c'
	pm     = '\u009e'
	apc    = '\u009f'
)

// Clean returns s without what acts on a terminal or hides in a page: escape sequences as a
// whole, control characters except newline and tab, and characters that turn the direction of
// writing, have no width, or are tags. What is not UTF-8 becomes U+FFFD.
func Clean(s string) string {
	var out strings.Builder
	out.Grow(len(s))
	for len(s) > 0 {
		if n := sequence(s); n > 0 {
			s = s[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		if !invisible(r) {
			out.WriteRune(r)
		}
		s = s[size:]
	}
	return out.String()
}

// Line returns s, cleaned, as one line of at most limit characters; what does not fit is cut and
// marked by an ellipsis.
func Line(s string, limit int) string {
	line := []rune(strings.TrimSpace(strings.Map(func(r rune) rune {
		switch r {
		case '\n', '\t', '\u2028', '\u2029':
			return ' '
		}
		return r
	}, Clean(s))))
	if len(line) <= limit {
		return string(line)
	}
	if limit <= 0 {
		return ""
	}
	return string(line[:limit-1]) + "…"
}

// Joined is Line of a text whose lines each say something of their own: a mark stands between them, unless one is the head of the
// next and says so by its colon.
func Joined(s string, limit int) string {
	var lines []string
	for line := range strings.Lines(Clean(s)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return Line(strings.ReplaceAll(strings.Join(lines, " · "), ": · ", ": "), limit)
}

// invisible reports whether r is not for the eye.
func invisible(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < ' ', 0x7f <= r && r <= 0x9f: // C0, DEL, C1
	case r == 0x061c, 0x200e <= r && r <= 0x200f, 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069: // direction
	case 0x200b <= r && r <= 0x200d, 0x2060 <= r && r <= 0x2065, r == 0x180e, r == 0xfeff: // no width
	case 0x206a <= r && r <= 0x206f, 0xfff9 <= r && r <= 0xfffb: // deprecated and interlinear controls
	case 0xe0000 <= r && r <= 0xe007f: // tags
	default:
		return false
	}
	return true
}

// sequence returns the length of the escape sequence that s starts with, 0 when it starts with none.
func sequence(s string) int {
	introducer, size := utf8.DecodeRuneInString(s)
	if introducer == escape && len(s) > 1 {
		// ESC and a byte of this column are the same as one C1 character.
		if b := s[1]; '@' <= b && b <= '_' {
			introducer, size = rune(b)+0x40, 2
		}
	}
	switch introducer {
	case csi:
		return size + controlSequence(s[size:])
	case osc, dcs, sos, pm, apc:
		return size + controlString(s[size:])
	case escape:
		n := size + run(s[size:], ' ', '/')
		return n + min(1, run(s[n:], '0', '~'))
	}
	if 0x80 <= introducer && introducer <= st {
		return size
	}
	return 0
}

// controlSequence returns the length of what follows CSI: parameters, intermediates and a final byte.
func controlSequence(s string) int {
	n := run(s, '0', '?')
	n += run(s[n:], ' ', '/')
	return n + min(1, run(s[n:], '@', '~'))
}

// controlString returns the length of what follows OSC and its like, up to its terminator. One
// that does not end on its line is no control string: nothing may hide the rest of a text.
func controlString(s string) int {
	for i, r := range s {
		switch {
		case r == '\n':
			return 0
		case r == bell:
			return i + 1
		case r == st:
			return i + utf8.RuneLen(st)
		case strings.HasPrefix(s[i:], "\x1b\\"):
			return i + 2
		}
	}
	return 0
}

// run returns how many bytes at the start of s lie between first and last.
func run(s string, first, last byte) int {
	for i := range len(s) {
		if s[i] < first || last < s[i] {
			return i
		}
	}
	return len(s)
}
