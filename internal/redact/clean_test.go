package redact_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"signalbox/internal/redact"
)

func TestCleanLeavesOnlyVisibleText(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"text, newline and tab stay", "a\tb\nü 日本 🚆", "a\tb\nü 日本 🚆"},
		{"control characters go", "a\x00b\ac\bd\re\x7ff", "abcdef"},
		{"C1 characters go", "a\u0085b\u008dc\u009cd", "abcd"},
		{"a colour goes as a whole", "\x1b[1;31mred\x1b[0m", "red"},
		{"so does one that starts with a C1 character", "\u009b31mred", "red"},
		{"a window title goes, ended by bell", "\x1b]0;owned\aafter", "after"},
		{"a link goes, its text stays", "\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"a device control string goes", "\x1bP1$q\"p\x1b\\x\u0090q\u009cy", "xy"},
		{"a reset and a character set go", "\x1bca\x1b(Bb\x1bM", "ab"},
		{"an unfinished sequence hides nothing", "\x1b]0;no end\nnext", "0;no end\nnext"},
		{"an escape at the end goes", "a\x1b", "a"},
		{"an unfinished colour goes", "a\x1b[31", "a"},
		{"directions go", "a\u202eb\u2066c\u200fd\u061ce", "abcde"},
		{"what has no width goes", "a\u200bb\u200dc\ufeffd\u2060e", "abcde"},
		{"tags go", "a\U000e0041\U000e007fb", "ab"},
		{"what is not UTF-8 is marked", "a\xffb\x9b31m\xc3", "a\ufffdb\ufffd31m\ufffd"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := redact.Clean(test.in); got != test.want {
				t.Errorf("Clean(%q) = %q, want %q", test.in, got, test.want)
			}
		})
	}
}

func TestJoinedLinesAreReported(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, in string
		limit    int
		want     string
	}{
		{"a mark stands between lines", "does not contain \"order 42\"\n\n  ordr 42\n", 60, "does not contain \"order 42\" · ordr 42"},
		{"a head is followed by what it is of", "exit code 1:\nno order\nno bill", 60, "exit code 1: no order · no bill"},
		{"one line stays", "all is lost", 60, "all is lost"},
		{"what does not fit is cut", "ab\ncd\nef", 6, "ab · …"},
		{"nothing", "\n \n", 6, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := redact.Joined(test.in, test.limit); got != test.want {
				t.Errorf("Joined(%q) = %q, want %q", test.in, got, test.want)
			}
		})
	}
}

func TestLineIsOneShortLine(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		limit    int
		want     string
	}{
		{"newlines and tabs are spaces", " a\nb\tc\u2028d\n", 20, "a b c d"},
		{"what fits stays", "日本語", 3, "日本語"},
		{"what does not fit is cut by characters", "日本語です", 4, "日本語…"},
		{"escape sequences do not count", "\x1b[31mabc\x1b[0m", 3, "abc"},
		{"one character leaves the mark", "abc", 1, "…"},
		{"nothing fits into nothing", "abc", 0, ""},
		{"less than nothing is nothing", "abc", -1, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := redact.Line(test.in, test.limit); got != test.want {
				t.Errorf("Line(%q, %d) = %q, want %q", test.in, test.limit, got, test.want)
			}
		})
	}
}

func TestACutTextSaysSo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in    string
		limit int
		want  string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"日本語", 4, "日…"}, {"日本", 2, "…"}, {"", 0, ""}} {
		if got := redact.Cut(test.in, test.limit); got != test.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", test.in, test.limit, got, test.want)
		}
	}
}

func FuzzCleanIsSafeAndFinal(f *testing.F) {
	for _, s := range []string{"\x1b[\x1b[31m31m", "\x1b\x1b]0;x\a", "\xe2\x80\u202e\xae", "\u009d\u009b\u0090\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		clean := redact.Clean(s)
		if !utf8.ValidString(clean) || redact.Clean(clean) != clean {
			t.Errorf("Clean(%q) = %q is not clean", s, clean)
		}
		forbidden := func(r rune) bool {
			return unicode.IsControl(r) && !strings.ContainsRune("\n\t", r) || unicode.Is(unicode.Bidi_Control, r)
		}
		if strings.ContainsFunc(clean, forbidden) {
			t.Errorf("Clean(%q) = %q", s, clean)
		}
	})
}
