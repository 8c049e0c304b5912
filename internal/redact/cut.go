package redact

import (
	"bytes"
	"strings"
)

// A limit may cut a text within a secret before anyone could look for it. What is left of the value is hidden as well:
// beside a mark that something was cut from cutLength bytes on, and at the ends of the text, where no mark says so,
// from half of the value on.
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

// cuttable are the forms of a value in which a limit may cut it: as it is, and as JSON and Go quote it. One that may be an
// ordinary word or a path is not looked for in parts.
func cuttable(value string) map[string]bool {
	if !tellsItself(value) || len(value) <= cutLength {
		return nil
	}
	return map[string]bool{value: true, quoted(value, false): true, quoted(value, true): true}
}

func (t *table) addRests(text string) {
	for from := 1; from <= len(text)-cutLength; from++ {
		t.rests[text[from]] = append(t.rests[text[from]], rest{text[from:], len(text)})
	}
}

// in returns how much of the form text starts with, if that is to be hidden. It reports false when that cannot be said
// without what follows.
func (f *form) in(text []byte, final bool) (n int, decided bool) {
	n = common(f.text, text)
	switch {
	case n == len(f.text):
		return n, true
	case n == len(text) && !final:
		return 0, false
	case !f.cut || n < cutLength:
		return 0, true
	case n == len(text):
		return atLeast(n, (len(f.text)+1)/2), true
	}
	return cutBefore(text, n, final)
}

// cutBefore returns n if a mark follows the first n bytes of text, that something was cut there, else 0.
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

func atLeast(n, least int) int {
	if n < least {
		return 0
	}
	return n
}

// findRest adds the span of what a limit left of a value, if that may start here. It reports false when it cannot say.
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
			if n = atLeast(n, least); n > 0 {
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

// common returns how many bytes text starts with that form does.
func common(form string, text []byte) int {
	n := min(len(form), len(text))
	for i := range n {
		if form[i] != text[i] {
			return i
		}
	}
	return n
}
