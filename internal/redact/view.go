package redact

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// view looks for secrets in what the eye sees of a text, and takes them out of the text: also those
// that colours, carriage returns or characters without width split.
type view struct {
	scanner scanner
	// raw is what cannot be told yet; seen was told and waits for what may be the rest of a secret.
	raw, seen []byte
}

// mark is something unseen before the byte at of what is seen.
type mark struct {
	at  int
	raw []byte
}

// mark adds something unseen before the byte at. What adjoins is one mark: a file may hold millions of zeros.
func (s *scanner) mark(at int, raw []byte) {
	if last := len(s.marks) - 1; last >= 0 && s.marks[last].at == at {
		s.marks[last].raw = append(s.marks[last].raw, raw...)
		return
	}
	s.marks = append(s.marks, mark{at, slices.Clone(raw)})
}

// pass appends what is decided of the text so far to out.
func (v *view) pass(out, text []byte, final bool) []byte {
	if len(v.raw) == 0 && len(v.seen) == 0 && visibleRun(text) == len(text) { // as most text is
		out, done := v.scanner.scan(out, text, final)
		v.seen = append(v.seen, text[done:]...)
		v.scanner.moveMarks(done)
		return out
	}
	v.raw = append(v.raw, text...)
	v.raw = append(v.raw[:0], v.split(v.raw, final)...)
	out, done := v.scanner.scan(out, v.seen, final)
	v.seen = append(v.seen[:0], v.seen[done:]...)
	v.scanner.moveMarks(done)
	return out
}

// split parts text into what is seen and what is not, and returns the rest, which cannot be told yet.
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
			out = append(out, s.marks[n].raw...)
		}
		n++
	}
	s.marks = s.marks[n:]
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

func (s *scanner) moveMarks(by int) {
	for i := range s.marks {
		s.marks[i].at -= by
	}
}

// hidden looks for secrets that are partly in what is not seen, as in a window's title, and so escape
// a view. One that is only in what is seen does not, so all else passes unread.
type hidden struct {
	scanner scanner
	held    []byte
}

func (h *hidden) pass(out, text []byte, final bool) []byte {
	if len(h.held) == 0 && len(h.scanner.spans) == 0 {
		n := visibleRun(text)
		if n > 0 {
			h.scanner.previous, h.scanner.hiding, h.scanner.opening = text[n-1], false, -1
		}
		out, text = append(out, text[:n]...), text[n:]
	}
	h.held = append(h.held, text...)
	out, done := h.scanner.scan(out, h.held, final)
	h.held = append(h.held[:0], h.held[done:]...)
	return out
}

// cleaner is Clean for a stream.
type cleaner struct{ raw []byte }

func (c *cleaner) pass(out, text []byte, final bool) []byte {
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
	return out
}

var brokenCharacter = []byte(string(utf8.RuneError))
