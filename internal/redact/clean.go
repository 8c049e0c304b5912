package redact

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Clean returns s without anything that acts on a terminal or hides in a page: whole escape
// sequences, control characters except newline and tab, and characters that change the direction
// of writing, have no width, or are tags. Invalid UTF-8 becomes U+FFFD.
func Clean(s string) string {
	visible := 0
	for visible < len(s) && visibleASCII[s[visible]] {
		visible++
	}
	if visible == len(s) { // as in most text
		return s
	}
	out, _, _ := new(cleaner).pass(make([]byte, 0, len(s)), []byte(s), false, true)
	return string(out)
}

// cleaner is Clean for a stream.
type cleaner struct{ raw []byte }

var brokenCharacter = []byte(string(utf8.RuneError))

func (c *cleaner) pass(out, text []byte, ascii, final bool) (_, held []byte, _ bool) {
	if ascii && len(c.raw) == 0 {
		return append(out, text...), nil, true
	}
	c.raw = append(c.raw, text...)
	rest := c.raw
	for len(rest) > 0 {
		if n := visibleRun(rest); n > 0 {
			out, rest = append(out, rest[:n]...), rest[n:]
			continue
		}
		n, decided := unseen(rest, final)
		if !decided {
			break
		}
		if n == 0 {
			n = visible(rest)
			out = append(out, bytes.ToValidUTF8(rest[:n], brokenCharacter)...)
		} else if r, size := utf8.DecodeRune(rest[:n]); r == utf8.RuneError && size == 1 {
			// A control character in eight bits is no UTF-8 and acts on few terminals: what follows it stays.
			out = append(utf8.AppendRune(out, utf8.RuneError), Clean(string(rest[1:n]))...)
		}
		rest = rest[n:]
	}
	c.raw = append(c.raw[:0], rest...)
	return out, c.raw, false
}

// Line returns s, cleaned, as one line of at most limit characters; an ellipsis marks what was cut.
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

// Cut returns the first limit bytes of s, or fewer so that no character is broken, and an ellipsis if that isn't all: it tells
// a Redactor that the rest of a secret may be missing.
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

// Escaped shows a line in Markdown as it is: it makes no link, image, tag, code or cell of a table.
func Escaped(line string) string { return markdown.Replace(line) }

var markdown = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "|", `\|`, "~", `\~`)

// Fenced returns untrusted text in a Markdown fence longer than any in it, without the characters
// that a reader can't see.
func Fenced(text string) string {
	text = Clean(text)
	fence := "````"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + strings.TrimRight(text, "\n") + "\n" + fence
}
