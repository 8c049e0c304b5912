package permission

import "strings"

// matches reports whether a text matches a pattern. A star does not match the bytes marked in said; nil marks none.
func matches(pattern []token, text string, said []bool) bool {
	// at[i] is true if the text read so far may match the first i tokens.
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

// skip lets stars match the empty text.
func skip(pattern []token, at []bool) {
	for n, t := range pattern {
		if at[n] && t.star {
			at[n+1] = true
		}
	}
}

// parting are the characters that mean more to a shell than part of a word.
const parting = ";&|<>()$`\n\r"

// signs marks the bytes of a text that an allowing pattern must spell out.
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

// named reports whether the byte at i makes the ".." beside it part of a longer name.
func named(text string, i int) bool {
	if i < 0 || i >= len(text) {
		return false
	}
	c := text[i]
	return c == '.' || c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// parts splits a command at the characters that signs marks.
func parts(text string) (all []string) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(parting, r) }) {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}
