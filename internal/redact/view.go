package redact

import (
	"encoding/binary"
	"unicode/utf8"
)

// view searches what a reader sees of a text for secrets, and removes them from the text even if colors, carriage returns or characters without
// width split them.
type view struct {
	scanner scanner
	// raw is the input that isn't decided yet; seen is decided, but may still begin a secret.
	raw, seen []byte
}

// mark is something invisible before the byte at of the seen text: unseen[from:to] of the scanner.
type mark struct{ at, from, to int }

// pass appends the decided part of the text to out.
func (v *view) pass(out, text []byte, ascii, final bool) (_, held []byte, _ bool) {
	ascii = ascii && len(v.raw) == 0 && len(v.scanner.marks) == 0 && visibleRun(v.seen) == len(v.seen)
	switch {
	case ascii && len(v.seen) == 0: // as most text is
		out, done := v.scanner.scan(out, text, len(text), final)
		v.seen = append(v.seen, text[done:]...)
		return out, v.seen, true
	case ascii:
		v.seen = append(v.seen, text...)
	default:
		v.raw = append(v.raw, text...)
		v.raw = append(v.raw[:0], v.split(v.raw, final)...)
	}
	out, done := v.scanner.scan(out, v.seen, len(v.seen), final)
	v.seen = append(v.seen[:0], v.seen[done:]...)
	if marks := v.scanner.marks; len(marks) > 0 { // drop the unseen bytes of the marks that were shown
		gone := marks[0].from
		v.scanner.unseen = append(v.scanner.unseen[:0], v.scanner.unseen[gone:]...)
		for i, m := range marks {
			marks[i] = mark{m.at - done, m.from - gone, m.to - gone}
		}
	}
	if len(v.seen) > 0 {
		return out, v.seen, ascii
	}
	return out, v.raw, ascii
}

// split separates text into seen and unseen parts, and returns the undecided rest.
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
			s := &v.scanner
			from := len(s.unseen)
			s.unseen = append(s.unseen, text[:n]...)
			if last := len(s.marks) - 1; last >= 0 && s.marks[last].at == len(v.seen) { // one mark: a file may hold millions of zeros
				s.marks[last].to = len(s.unseen)
			} else {
				s.marks = append(s.marks, mark{len(v.seen), from, len(s.unseen)})
			}
		}
		text = text[n:]
	}
	return nil
}

// visibleASCII are the bytes that are visible characters of their own.
var visibleASCII = newClass("\n\t !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~")

// visibleRun returns how many bytes of visibleASCII text starts with. It reads eight at once where all are letters or the like.
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

// show appends the unseen bytes of the marks up to an offset; without keep it drops them.
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

// hidden searches for secrets that begin in unseen text, such as a window's title, and so escape a view. It passes everything else on unread.
type hidden struct {
	scanner scanner
	held    []byte
	// inside is how many bytes at the start of held are the rest of something unseen.
	inside int
}

func (h *hidden) pass(out, text []byte, ascii, final bool) (_, held []byte, _ bool) {
	if ascii && len(h.held) == 0 && len(h.scanner.spans) == 0 {
		if len(text) > 0 {
			h.scanner.passed(text[len(text)-1])
		}
		return append(out, text...), nil, true
	}
	h.held = append(h.held, text...)
	rest := h.held
	for len(rest) > 0 {
		n, decided := 0, true // n is how much of the rest is seen, at its start
		if h.inside == 0 {
			n = visibleRun(rest)
		}
		if h.inside == 0 && n == 0 {
			if h.inside, decided = unseen(rest, final); !decided {
				break
			}
			if h.inside == 0 {
				n = visible(rest)
			}
		}
		var done int
		switch {
		case n == 0:
			out, done = h.scanner.scan(out, rest, h.inside, final)
			h.inside -= done
		case len(h.scanner.spans) > 0: // no secret starts here, but an open one may end
			for ; done < n && len(h.scanner.spans) > 0; done++ {
				out = h.scanner.take(out, rest[done], h.scanner.covered(rest[done]))
			}
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
	return out, h.held, false
}
