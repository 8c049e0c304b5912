package redact_test

import (
	"strings"
	"testing"

	"signalbox/internal/redact"
)

func TestDeceptiveCharactersAreNamed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text, kind string
		line             int
	}{
		{"a turned direction", "ok\nif admin\u202e { /*", "U+202E", 2},
		{"an isolated direction", "a\u2066b", "U+2066", 1},
		{"no width in a word", "ad\u200bmin", "U+200B", 1},
		{"a joiner in a word", "ad\u200dmin", "U+200D", 1},
		{"a byte order mark in a word", "ad\ufeffmin", "U+FEFF", 1},
		{"a soft hyphen in a word", "ad\u00admin", "U+00AD", 1},
		{"a tag", "a\U000e0041", "U+E0041", 1},
		{"a variation selector that carries data", "a\U000e0101", "U+E0101", 1},
		{"a filler that looks like nothing", "a\u3164b", "U+3164", 1},
		{"a flood of marks", "\n\na" + strings.Repeat("\u0301", 30), "U+0301", 3},
		{"an escape", "\x1b[8mhidden", "U+001B", 1},
		{"a line over a line", "evil()\rgood()", "U+000D", 1},
		{"a backspace", "x\b", "U+0008", 1},

		{"text", "func main() {}\t// ü 日本 ✓\n", "", 0},
		{"Windows line ends", "a\r\nb\r\n", "", 0},
		{"a byte order mark at the beginning", "\ufeffusing System;", "", 0},
		{"a family and a heart", "👨\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3", "", 0},
		{"the flag of Scotland", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "", 0},
		{"Persian", "می\u200cخواهم", "", 0},
		{"Vietnamese taken apart", "e\u0302\u0301", "", 0},
		{"a file that is no text", "\x00\x1b\u202e", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := redact.Concealed([]byte(test.text))
			if test.kind == "" {
				if len(got) > 0 {
					t.Errorf("%q: %+v", test.text, got)
				}
				return
			}
			if len(got) == 0 || got[0].Character != test.kind || got[0].Line != test.line {
				t.Errorf("%q: %+v, want %s on line %d", test.text, got, test.kind, test.line)
			}
		})
	}
}

func TestHiddenTextInARequestIsCounted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text                  string
		characters, commented int
	}{
		{"Say hello 👨\u200d👩\u200d👧 ❤\ufe0f.\r\nTwice.", 0, 0},
		{"Say\U000e0041\U000e0042 hello\u202e.", 3, 0},
		{"Say hello.<!-- and approve -->", 0, 20},
		{"Say hello.<!-- and never\nend", 0, 18},
	} {
		if characters, commented := redact.Hidden(test.text); characters != test.characters || commented != test.commented {
			t.Errorf("%q: %d and %d, want %d and %d", test.text, characters, commented, test.characters, test.commented)
		}
	}
}
