package redact

import (
	"strings"
	"unicode/utf8"
)

// Clean returns s without what acts on a terminal or hides in a page: escape sequences as a
// whole, control characters except newline and tab, and characters that turn the direction of
// writing, have no width, or are tags. What is not UTF-8 becomes U+FFFD.
func Clean(s string) string {
	visible := 0
	for visible < len(s) && visibleASCII.has(s[visible]) {
		visible++
	}
	if visible == len(s) { // as of most text
		return s
	}
	out, _ := new(cleaner).pass(make([]byte, 0, len(s)), []byte(s), false, true)
	return string(out)
}

// appendUnseen appends what Clean leaves of something unseen: of a control character in eight bits,
// which is no UTF-8 and acts on few terminals, the mark of a broken character and what follows.
func appendUnseen(out, raw []byte) []byte {
	if r, size := utf8.DecodeRune(raw); r == utf8.RuneError && size == 1 {
		return append(utf8.AppendRune(out, utf8.RuneError), Clean(string(raw[1:]))...)
	}
	return out
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

// Cut returns the first limit bytes of s, or fewer so that no character is broken, and an ellipsis if that is not all: by that
// a Redactor knows a secret of which the rest is missing.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// Joined is Line for a text whose lines are separate messages: it puts a mark between them, unless a line ends in a colon and so introduces the
// next.
func Joined(s string, limit int) string {
	var lines []string
	for line := range strings.Lines(Clean(s)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return Line(strings.ReplaceAll(strings.Join(lines, " · "), ": · ", ": "), limit)
}

// Fenced sets a stranger's text apart, in a Markdown fence longer than any in it, after
// taking out what a reader cannot see.
func Fenced(text string) string {
	text = Clean(text)
	fence := "````"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + strings.TrimRight(text, "\n") + "\n" + fence
}
