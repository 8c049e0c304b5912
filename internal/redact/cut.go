package redact

import (
	"bytes"
	"strings"
)

// A limit may cut a text within a secret before the text is searched. The scanner hides the rest of the value too: beside a mark of an omission if it
// has at least cutLength bytes, and at the ends of the text, where there is no mark, if it is at least half of the value.
const cutLength = 8

const (
	ellipsis = "…"
	dots     = "..."
)

// rest is the end of a form, from an offset on.
type rest struct {
	text string
	of   int // the length of the form
}

// in returns how many bytes of the form text starts with, if they must be hidden. decided is false if that depends on the bytes that follow.
func (f *form) in(text []byte, final bool) (n int, decided bool) {
	n = common(f.text, text)
	switch {
	case n == len(f.text):
		return n, true
	case n == len(text) && !final:
		return 0, false
	case !f.cut || n < cutLength:
		return 0, true
	case n == len(text) && n < (len(f.text)+1)/2:
		return 0, true
	case n == len(text):
		return n, true
	}
	return cutBefore(text, n, final)
}

// cutBefore returns n if the first n bytes of text are followed by a mark of an omission, otherwise 0.
func cutBefore(text []byte, n int, final bool) (_ int, decided bool) {
	after := text[n:]
	if after[0] == ' ' {
		after = after[1:]
	}
	for _, mark := range []string{ellipsis, dots} {
		switch {
		case bytes.HasPrefix(after, []byte(mark)):
			return n, true
		case !final && strings.HasPrefix(mark, string(after)):
			return 0, false
		}
	}
	return 0, true
}

// findRest adds the span of the rest of a cut value, if one may start here. It returns false if that depends on the bytes that follow.
func (s *scanner) findRest(text []byte, final bool) bool {
	if strings.HasPrefix(string(text[:min(len(text), len(ellipsis))]), ellipsis) {
		s.opening, s.marked = len(ellipsis), true
	}
	if s.opening != 0 {
		return true
	}
	if s.marked && text[0] == ' ' { // "… of it"
		s.opening = 1
	}
	for _, r := range s.table.rests[text[0]] {
		least := (r.of + 1) / 2
		if s.marked {
			least = cutLength
		}
		switch n := common(r.text, text); {
		case n == len(text) && n < len(r.text) && !final:
			return false
		case n == len(r.text), n == len(text):
			if n >= least {
				s.spans = append(s.spans, span{to: n})
			}
		case n >= least:
			n, decided := cutBefore(text, n, final)
			if !decided {
				return false
			}
			if n > 0 {
				s.spans = append(s.spans, span{to: n})
			}
		}
	}
	return true
}

// common returns the length of the common prefix of form and text.
func common(form string, text []byte) int {
	n := min(len(form), len(text))
	for i := range n {
		if form[i] != text[i] {
			return i
		}
	}
	return n
}
