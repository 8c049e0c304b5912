package redact

import (
	"bytes"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"signalbox/internal/lazy"
)

// binaryLength is how far git searches for a zero byte, which marks a binary file.
const binaryLength = 8000

// combiningLimit is how many marks a letter may have; no script needs more than five or six.
const combiningLimit = 8

// Concealed returns characters in text that deceive a reader: characters that change the direction of writing, have no width, or are tags, unless a
// script or an emoji needs them; controls with which a terminal hides a line; and floods of combining marks. A binary file has none.
func Concealed(text []byte) (all []Found) {
	if bytes.IndexByte(text[:min(len(text), binaryLength)], 0) >= 0 {
		return nil
	}
	eachConcealed(text, func(r rune, line, at int) bool {
		f := Found{Character: fmt.Sprintf("U+%04X", r), Line: line, Text: lineAround(text, at)}
		if !slices.Contains(all, f) {
			all = append(all, f)
		}
		return len(all) < findLimit
	})
	return all
}

// Hidden counts the characters of a text that its readers don't see when it is rendered as a page: those that Concealed finds, and those in HTML
// comments.
func Hidden(text string) (characters, commented int) {
	for _, comment := range comments().FindAllString(text, -1) {
		commented += utf8.RuneCountInString(comment)
	}
	eachConcealed([]byte(text), func(rune, int, int) bool {
		characters++
		return true
	})
	return characters, commented
}

// An unclosed comment hides the rest.
var comments = lazy.Pattern(`(?s)<!--.*?(?:-->|$)`)

// eachConcealed calls found with each deceptive character, its line and its offset, until found returns false.
func eachConcealed(text []byte, found func(r rune, line, at int) bool) {
	c := concealed{line: 1, before: '\n'}
	for at := 0; at < len(text); {
		if n := ordinaryASCII.count(text[at:]); n > 0 {
			c.line += bytes.Count(text[at:at+n], newline)
			at += n
			c.before, c.marks = rune(text[at-1]), 0
			continue
		}
		r, size := utf8.DecodeRune(text[at:])
		after, _ := utf8.DecodeRune(text[at+size:])
		if c.deceives(r, after, at) && !found(r, c.line, at) {
			return
		}
		if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) {
			c.marks++
		} else {
			c.marks = 0
		}
		at += size
		c.before, c.flag = r, r == 0x1f3f4 || c.flag && 0xe0020 <= r && r <= 0xe007f
	}
}

var ordinaryASCII = visibleASCII.and(newClass("\f"))

type concealed struct {
	line   int
	before rune
	marks  int  // combining ones so far on one letter
	flag   bool // a black flag, and tags since
}

// deceives judges the character r at an offset by its neighbors.
func (c *concealed) deceives(r, after rune, at int) bool {
	switch {
	case r == '\r':
		return after != '\n' && after != utf8.RuneError
	case r == utf8.RuneError:
		return false
	case r == 0xfeff:
		return at > 0 // a byte order mark belongs at the beginning
	case r == 0x200c, r == 0x200d, 0xfe00 <= r && r <= 0xfe0f: // needed by Arabic, Indic scripts and emoji
		return c.before <= unicode.MaxASCII && (r != 0xfe0f || !bytes.ContainsRune([]byte("0123456789#*"), c.before))
	case r == 0x200e, r == 0x200f, r == 0x061c, r == 0x00ad: // a single mark or a soft hyphen reverses nothing
		return unicode.IsLetter(c.before) && c.before <= unicode.MaxASCII && unicode.IsLetter(after) && after <= unicode.MaxASCII
	case 0xe0020 <= r && r <= 0xe007f: // flags of regions consist of them
		return !c.flag
	case c.marks == combiningLimit:
		return unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r)
	}
	return invisible(r)
}
