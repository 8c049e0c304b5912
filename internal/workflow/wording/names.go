package wording

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// marksLimit is how many combining marks a letter of a name may carry.
const marksLimit = 4

// deceptiveName reports whether a person who reads the name sees something else than is there: turned directions, characters
// without width or that look like a space, tags, floods of marks.
func Deceptive(name string) bool {
	marks := 0
	for _, r := range name {
		switch {
		case unicode.Is(unicode.Cf, r), r != ' ' && (unicode.IsSpace(r) || unicode.Is(unicode.Z, r)), blank(r):
			return true
		case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Me, r):
			if marks++; marks > marksLimit {
				return true
			}
		default:
			marks = 0
		}
	}
	return false
}

// blank: letters that look like nothing, and variation selectors that no emoji has.
func blank(r rune) bool {
	switch r {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0:
		return true
	}
	return 0xe0100 <= r && r <= 0xe01ef
}

// shownName is a name as it may be shown: what cannot be seen is escaped, so that it is.
func Shown(s string) string {
	var out strings.Builder
	marks := 0
	for rest := s; len(rest) > 0; {
		r, size := utf8.DecodeRuneInString(rest)
		mark := unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r)
		if marks++; !mark {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && size == 1:
			_, _ = fmt.Fprintf(&out, `\x%02x`, rest[0])
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), blank(r), r != ' ' && unicode.Is(unicode.Z, r), marks > marksLimit:
			if r > 0xffff {
				_, _ = fmt.Fprintf(&out, `\U%08x`, r)
			} else {
				_, _ = fmt.Fprintf(&out, `\u%04x`, r)
			}
		default:
			out.WriteRune(r)
		}
		rest = rest[size:]
	}
	return out.String()
}

// Printable is a text as it may be shown, with a mark for what cannot be.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// OneLine returns text without line breaks and control characters.
func OneLine(text string) string { return Printable(strings.Join(strings.Fields(text), " ")) }

// Count returns a number with its noun: "1 file", "2 files".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// ShortID returns the beginning of an object id, as git log shows it.
func ShortID(id string) string { return id[:min(10, len(id))] }

// Join returns a list as a sentence has it: "a, b and c". The list is not empty.
func Join(words []string) string {
	text := words[0]
	for i, w := range words[1:] {
		if i == len(words)-2 {
			return text + " and " + w
		}
		text += ", " + w
	}
	return text
}

// FirstLine returns the first line of text, printable.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return Printable(line)
}
