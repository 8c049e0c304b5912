package redact

import (
	"bytes"
	"strings"
)

// scanner reads a text byte by byte. Its decision at a byte depends on the bytes before and on a bounded number of bytes after it, never on how the
// text was split into pieces. So a stream and a whole text have the same result.
type scanner struct {
	redactor *Redactor
	table    *table // the redactor's, while a text is scanned
	spans    []span // secrets that haven't ended yet
	previous byte   // the byte before; a newline at the start
	hiding   bool   // the byte before was part of a secret
	marks    []mark // the places of what is unseen in the text, in order
	unseen   []byte // the unseen bytes of all marks
	found    func(of named, kind string, at int)
	whole    int // the length of the scanned text
	// opening is how many bytes ahead the end of a value whose beginning was cut off may start; negative if none may. marked: a mark of an
	// omission says that something was cut, and the text doesn't just begin here.
	opening int
	marked  bool
}

// span is a part of the text to hide, counted from the current byte. If it has a class, it continues as long as bytes of that class follow.
type span struct {
	from, to int
	class    *class
}

func (r *Redactor) newScanner() scanner {
	return scanner{redactor: r, previous: '\n'}
}

// scan appends the redacted text[:to] to out, and returns how many bytes of it were decided; it reads the bytes from to on without deciding them.
// The caller passes the rest again, with what follows; if text is final there is no rest.
func (s *scanner) scan(out, text []byte, to int, final bool) (_ []byte, done int) {
	if s.redactor == nil {
		s.table = patternsOnly()
	} else {
		s.table = s.redactor.table.Load()
	}
	s.whole = len(text)
	for done < to {
		open := len(s.spans) > 0
		if !open && len(s.marks) > 0 {
			out = s.show(out, done, true)
		}
		plain := 0 // how many bytes from here on are no part of a secret at first sight
		if !open && s.opening < 0 {
			plain = min(s.table.starts.before(text[done:]), to-done)
		}
		if plain > 0 {
			from := done
			done += plain
			for len(s.marks) > 0 && s.marks[0].at < done {
				at := s.marks[0].at
				out = append(out, text[from:at]...)
				out, from = s.show(out, at, true), at
			}
			out = append(out, text[from:done]...)
			s.passed(text[done-1])
			continue
		}
		if !s.find(text[done:], final) {
			return out, done
		}
		hide := s.covered(text[done])
		if len(s.marks) > 0 { // whatever is unseen within a secret is removed with it
			out = s.show(out, done, !open || !hide)
		}
		out = s.take(out, text[done], hide)
		done++
	}
	if final || len(s.spans) == 0 {
		out = s.show(out, done, true)
	}
	return out, done
}

// passed notes the last byte of what was passed on without a secret.
func (s *scanner) passed(last byte) { s.previous, s.hiding, s.opening = last, false, -1 }

// find adds the spans of all secrets that start here. It returns false if that depends on the bytes that follow.
func (s *scanner) find(text []byte, final bool) bool {
	known := len(s.spans)
	for i := range s.table.forms[text[0]] {
		form := &s.table.forms[text[0]][i]
		if len(text) > 1 && form.text[1] != text[1] { // as in most
			continue
		}
		n, decided := form.in(text, final)
		if !decided {
			s.spans = s.spans[:known]
			return false
		}
		if n > 0 {
			s.spans = append(s.spans, span{to: n})
		}
		if n == len(form.text) {
			s.report(form.of, "", text)
		}
	}
	if (s.opening == 0 || text[0] == ellipsis[0]) && !s.findRest(text, final) {
		s.spans = s.spans[:known]
		return false
	}
	closing := false
	for _, p := range s.table.patterns[text[0]] {
		found, decided := s.match(p, text, final)
		if !decided {
			s.spans = s.spans[:known]
			return false
		}
		if found != nil {
			s.spans = append(s.spans, *found)
			s.report(named{}, p.kind, text)
			closing = closing || p.closes
		}
	}
	for i := range s.spans {
		if closing {
			s.spans[i].class = nil
		}
	}
	return true
}

// report passes what starts the rest of the text to the caller's function.
func (s *scanner) report(of named, kind string, rest []byte) {
	if s.found != nil && (kind != "" || of.name != "") {
		s.found(of, kind, s.whole-len(rest))
	}
}

// match returns the span of p if it starts here, and false if that isn't decided yet.
func (s *scanner) match(p *pattern, text []byte, final bool) (_ *span, decided bool) {
	start := text[:min(len(text), len(p.prefix))]
	if p.fold && !strings.EqualFold(string(start), p.prefix[:len(start)]) || !p.fold && string(start) != p.prefix[:len(start)] {
		return nil, true
	}
	window := text[:min(len(text), p.window)]
	if end := bytes.IndexByte(window, '\n'); end >= 0 {
		window = window[:end]
	} else if len(window) < p.window && !final {
		return nil, false
	}
	if len(window) < len(p.prefix) || p.word && alphanumeric[s.previous] {
		return nil, true
	}
	if found, ok := p.find(window); ok {
		return &found, true
	}
	return nil, true
}

// covered reports whether b, the current byte, is part of a secret.
func (s *scanner) covered(b byte) (covered bool) {
	for i := range s.spans {
		if p := &s.spans[i]; p.from <= 0 {
			if p.to == 0 && p.class != nil && p.class[b] {
				p.to = 1
			}
			covered = covered || p.to > 0
		}
	}
	return covered
}

// take appends the byte b, or the replacement of a secret that it begins, moves to the next byte and drops the spans that have ended.
func (s *scanner) take(out []byte, b byte, hide bool) []byte {
	switch {
	case !hide:
		out = append(out, b)
	case !s.hiding:
		out = append(out, Replacement...)
	}
	s.previous, s.hiding = b, hide
	s.opening--
	open := s.spans[:0]
	for _, p := range s.spans {
		p.from--
		p.to--
		if p.to > 0 || p.to == 0 && p.class != nil {
			open = append(open, p)
		}
	}
	s.spans = open
	return out
}
