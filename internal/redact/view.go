package redact

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// view searches what a reader sees of a text for secrets, and removes them from the text even if colors, carriage returns or characters without
// width split them.
type view struct {
	scanner scanner
	// raw is not decided yet; seen was decided and may still be followed by the rest of a secret.
	raw, seen []byte
}

// mark is something invisible before the byte at of what is seen: unseen[from:to] of the scanner.
type mark struct{ at, from, to int }

// mark adds something invisible before the byte at. Adjacent ones are one mark: a file may hold millions of zeros.
func (s *scanner) mark(at int, raw []byte) {
	from := len(s.unseen)
	s.unseen = append(s.unseen, raw...)
	if last := len(s.marks) - 1; last >= 0 && s.marks[last].at == at {
		s.marks[last].to = len(s.unseen)
		return
	}
	s.marks = append(s.marks, mark{at, from, len(s.unseen)})
}

// pass appends the decided part of the text to out.
func (v *view) pass(out, text []byte, ascii, final bool) ([]byte, bool) {
	ascii = ascii && len(v.raw) == 0 && len(v.scanner.marks) == 0 && visibleRun(v.seen) == len(v.seen)
	switch {
	case ascii && len(v.seen) == 0: // as most text is
		out, done := v.scanner.scan(out, text, final)
		v.seen = append(v.seen, text[done:]...)
		return out, true
	case ascii:
		v.seen = append(v.seen, text...)
	default:
		v.raw = append(v.raw, text...)
		v.raw = append(v.raw[:0], v.split(v.raw, final)...)
	}
	out, done := v.scanner.scan(out, v.seen, final)
	v.seen = append(v.seen[:0], v.seen[done:]...)
	if marks := v.scanner.marks; len(marks) > 0 { // of those that are gone, what was unseen goes too
		gone := marks[0].from
		v.scanner.unseen = append(v.scanner.unseen[:0], v.scanner.unseen[gone:]...)
		for i, m := range marks {
			marks[i] = mark{m.at - done, m.from - gone, m.to - gone}
		}
	}
	return out, ascii
}

func (v *view) holds() []byte {
	if len(v.seen) > 0 {
		return v.seen
	}
	return v.raw
}

// split separates text into what is seen and what is not, and returns the undecided rest.
func (v *view) split(text []byte, final bool) []byte {
	for len(text) > 0 {
		if n := visibleRun(text); n > 0 {
			v.seen, text = append(v.seen, text[:n]...), text[n:]
			continue
		}
		n, decided := unseen(text, final)
		switch {
		case !decided:
			return text
		case n == 0:
			n = visible(text)
			v.seen = append(v.seen, text[:n]...)
		default:
			v.scanner.mark(len(v.seen), text[:n])
		}
		text = text[n:]
	}
	return nil
}

// visibleASCII are the bytes that are visible characters for themselves.
var visibleASCII = newClass("\n\t !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~")

// visibleRun returns how many bytes of visibleASCII text starts with, and looks at eight of them at once where all are letters
// or the like.
func visibleRun(text []byte) (n int) {
	const each = 0x0101010101010101
	for ; n+8 <= len(text); n += 8 {
		next := binary.LittleEndian.Uint64(text[n:])
		below, deleted := (next-0x20*each)&^next, (next^0x7f*each)-each
		if (below|deleted|next)&(0x80*each) != 0 { // perhaps a newline
			if few := visibleASCII.count(text[n : n+8]); few < 8 {
				return n + few
			}
		}
	}
	return n + visibleASCII.count(text[n:])
}

// visible returns the length of the visible character that text starts with.
func visible(text []byte) int {
	_, n := utf8.DecodeRune(text)
	return n
}

// show appends the marks up to the byte at; without keep they are dropped.
func (s *scanner) show(out []byte, at int, keep bool) []byte {
	n := 0
	for n < len(s.marks) && s.marks[n].at <= at {
		if keep {
			out = append(out, s.unseen[s.marks[n].from:s.marks[n].to]...)
		}
		n++
	}
	if s.marks = s.marks[n:]; len(s.marks) == 0 {
		s.marks, s.unseen = s.marks[:0], s.unseen[:0]
	}
	return out
}

// copyPlain appends text[from:to], in which no secret starts, with the marks in it.
func (s *scanner) copyPlain(out, text []byte, from, to int) []byte {
	for len(s.marks) > 0 && s.marks[0].at < to {
		at := s.marks[0].at
		out = append(out, text[from:at]...)
		out, from = s.show(out, at, true), at
	}
	return append(out, text[from:to]...)
}

// hidden searches for secrets that begin in what is not seen, such as a window's title, and so escape a view. Everything else passes unread.
type hidden struct {
	scanner scanner
	held    []byte
	// inside is how much of what is held, from its beginning on, is the rest of something unseen.
	inside int
}

func (h *hidden) pass(out, text []byte, ascii, final bool) ([]byte, bool) {
	if ascii && len(h.held) == 0 && len(h.scanner.spans) == 0 {
		if len(text) > 0 {
			h.scanner.passed(text[len(text)-1])
		}
		return append(out, text...), true
	}
	h.held = append(h.held, text...)
	rest := h.held
	for len(rest) > 0 {
		n, decided := h.seen(rest, final)
		if !decided {
			break
		}
		var done int
		switch {
		case n == 0:
			out, done = h.scanner.scanTo(out, rest, h.inside, final)
			h.inside -= done
		case len(h.scanner.spans) > 0:
			out, done = h.scanner.endSpans(out, rest[:n])
		default:
			out, done = append(out, rest[:n]...), n
			h.scanner.passed(rest[n-1])
		}
		if done == 0 {
			break
		}
		rest = rest[done:]
	}
	h.held = append(h.held[:0], rest...)
	return out, false
}

func (h *hidden) holds() []byte { return h.held }

// seen returns how much text begins with that is seen. Where that is nothing, inside is the length of what is not.
func (h *hidden) seen(text []byte, final bool) (n int, decided bool) {
	if h.inside > 0 {
		return 0, true
	}
	if n = visibleRun(text); n > 0 {
		return n, true
	}
	if h.inside, decided = unseen(text, final); h.inside > 0 || !decided {
		return 0, decided
	}
	return visible(text), true
}

// cleaner is Clean for a stream.
type cleaner struct{ raw []byte }

func (c *cleaner) pass(out, text []byte, ascii, final bool) ([]byte, bool) {
	if ascii && len(c.raw) == 0 {
		return append(out, text...), true
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
		if n > 0 {
			out = appendUnseen(out, rest[:n])
		} else {
			n = visible(rest)
			out = append(out, bytes.ToValidUTF8(rest[:n], brokenCharacter)...)
		}
		rest = rest[n:]
	}
	c.raw = append(c.raw[:0], rest...)
	return out, false
}

func (c *cleaner) holds() []byte { return c.raw }

var brokenCharacter = []byte(string(utf8.RuneError))
