package permission

import "strings"

// matches holds a text against a pattern. A star does not stand for the bytes that said marks; nil marks none.
func matches(pattern []token, text string, said []bool) bool {
	// at[i]: what of the text was read so far may be the first i tokens.
	at := make([]bool, len(pattern)+1)
	next := make([]bool, len(at))
	at[0] = true
	skip(pattern, at)
	for i := range len(text) {
		clear(next)
		for n, t := range pattern {
			switch {
			case !at[n]:
			case t.star:
				next[n] = next[n] || said == nil || !said[i]
			case t.byte == text[i]:
				next[n+1] = true
			}
		}
		at, next = next, at
		skip(pattern, at)
	}
	return at[len(pattern)]
}

// skip lets stars stand for nothing.
func skip(pattern []token, at []bool) {
	for n, t := range pattern {
		if at[n] && t.star {
			at[n+1] = true
		}
	}
}

// parting are the signs that a shell takes for more than a part of a word.
const parting = ";&|<>()$`\n\r"

// signs marks what a pattern has to say itself to allow it.
func signs(text string) []bool {
	said := make([]bool, len(text))
	for i := range len(text) {
		if strings.IndexByte(parting, text[i]) >= 0 {
			said[i] = true
		}
		if strings.HasPrefix(text[i:], "..") && !named(text, i-1) && !named(text, i+2) {
			said[i], said[i+1] = true, true
		}
	}
	return said
}

// named reports whether the byte at i makes ".." beside it a part of a longer name.
func named(text string, i int) bool {
	if i < 0 || i >= len(text) {
		return false
	}
	c := text[i]
	return c == '.' || c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// parts are the commands that a command is made of, as far as signs part them.
func parts(text string) (all []string) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(parting, r) }) {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}
