// Package redact owns what must not be written or shown: secrets, and the
// characters by which text plays tricks on a terminal or a page. It refuses to
// know where secrets come from and where the text goes.
//
// Text from outside is cleaned first and redacted then: a secret that is
// broken by an escape sequence is whole again after Clean.
package redact

import (
	"io"
	"strings"
	"sync"
)

// Replacement stands where a secret was.
const Replacement = "[redacted]"

// Redactor removes secrets: the values it was made with, in the forms in which programs print
// them, and whatever looks like a well-known kind of token. A nil Redactor knows no values and
// still removes the well-known kinds. It is safe for use by several goroutines.
type Redactor struct {
	// forms are the values in all their forms, by their first byte.
	forms [256][]string
	// patterns are the well-known kinds, by the first byte of their prefix.
	patterns [256][]*pattern
	// pairs tells by the first two bytes where a secret may start; most text starts none.
	pairs [256][256]bool
}

// patternsOnly serves the nil Redactor.
var patternsOnly = sync.OnceValue(func() *Redactor { return New(nil) })

// New makes a Redactor for secrets, which are values by their names ("GITHUB_TOKEN"). Values
// shorter than MinLength are ignored.
func New(secrets map[string]string) *Redactor {
	r := &Redactor{}
	for i := range patterns {
		p := &patterns[i]
		r.patterns[p.prefix[0]] = append(r.patterns[p.prefix[0]], p)
		r.mayStart(p.prefix)
		if first := upper(p.prefix[0]); p.fold && first != p.prefix[0] {
			r.patterns[first] = append(r.patterns[first], p)
			r.mayStart(p.prefix[:1] + strings.ToUpper(p.prefix[1:]))
			r.mayStart(strings.ToUpper(p.prefix[:1]) + p.prefix[1:])
			r.mayStart(strings.ToUpper(p.prefix))
		}
	}
	known := map[string]bool{}
	for _, value := range secrets {
		for _, form := range forms(value) {
			if !known[form] {
				known[form] = true
				r.forms[form[0]] = append(r.forms[form[0]], form)
				r.mayStart(form)
			}
		}
	}
	return r
}

func (r *Redactor) mayStart(prefix string) { r.pairs[prefix[0]][prefix[1]] = true }

// String returns s without secrets.
func (r *Redactor) String(s string) string { return string(r.Bytes([]byte(s))) }

// Bytes returns a copy of p without secrets.
func (r *Redactor) Bytes(p []byte) []byte {
	s := r.newScanner()
	out, _ := s.scan(make([]byte, 0, len(p)), p, true)
	return out
}

// Writer returns a Writer which passes on to w what it is given, without secrets, also when one
// comes in pieces. It holds back only what may still turn out to be part of a secret: rarely
// anything after the end of a line, and never more than the longest secret or half a kilobyte.
// Close passes on the rest; it does not close w.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser {
	return &writer{to: w, scanner: r.newScanner()}
}

type writer struct {
	to      io.Writer
	scanner scanner
	held    []byte
	out     []byte
}

func (w *writer) Write(p []byte) (int, error) {
	w.held = append(w.held, p...)
	return len(p), w.pass(false)
}

func (w *writer) Close() error { return w.pass(true) }

func (w *writer) pass(final bool) error {
	var done int
	w.out, done = w.scanner.scan(w.out[:0], w.held, final)
	w.held = append(w.held[:0], w.held[done:]...)
	if len(w.out) == 0 {
		return nil
	}
	_, err := w.to.Write(w.out)
	return err
}
