// Package redact removes what must not be written or shown: secrets, and characters that deceive the reader of a terminal or a page. It does not
// know where secrets come from and where the text goes.
//
// A Redactor searches a text both as it is and as Clean leaves it, so cleaning before or after makes no difference: nothing that Clean removes can
// split a secret.
package redact

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Replacement replaces a secret.
const Replacement = "[redacted]"

// Redactor removes secrets: the values it knows, in the forms in which programs print them, and text that looks like a well-known kind of token. A
// nil Redactor knows no values and still removes the well-known kinds. It is safe for concurrent use.
type Redactor struct {
	adding sync.Mutex
	table  atomic.Pointer[table]
}

// New returns a Redactor for secrets, which maps names ("GITHUB_TOKEN") to values. It ignores values shorter than MinLength and common words.
func New(secrets map[string]string) *Redactor {
	r := &Redactor{}
	r.Add(secrets)
	return r
}

// Add makes more values known, for Writers in use as well. A name may have several values.
func (r *Redactor) Add(secrets map[string]string) {
	r.adding.Lock()
	defer r.adding.Unlock()
	var known []named
	if t := r.table.Load(); t != nil {
		known = t.named
	}
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		known = append(slices.Clip(known), named{name, strings.TrimSpace(secrets[name])})
	}
	r.table.Store(newTable(known))
}

// patternsOnly serves the nil Redactor.
var patternsOnly = sync.OnceValue(func() *table { return newTable(nil) })

func (r *Redactor) known() *table {
	if r == nil {
		return patternsOnly()
	}
	return r.table.Load()
}

// String returns s without secrets. Invisible characters stay unless they are within a secret.
func (r *Redactor) String(s string) string { return string(r.Bytes([]byte(s))) }

// Text returns s without secrets and cleaned, fit to be shown to a person or a program.
func (r *Redactor) Text(s string) string { return Clean(r.String(s)) }

// Line returns s without secrets, cleaned, as one line of at most limit characters. See the function Line.
func (r *Redactor) Line(s string, limit int) string { return Line(r.String(s), limit) }

// Bytes returns a copy of p without secrets, as String does.
func (r *Redactor) Bytes(p []byte) []byte {
	if visibleRun(p) == len(p) { // as most text is: nothing splits a secret, and none is partly unseen
		s := r.newScanner()
		out, _ := s.scan(make([]byte, 0, len(p)), p, true)
		return out
	}
	out, _ := (&view{scanner: r.newScanner()}).pass(make([]byte, 0, len(p)), p, false, true)
	if visibleRun(out) == len(out) {
		return out
	}
	out, _ = (&hidden{scanner: r.newScanner()}).pass(make([]byte, 0, len(out)), out, false, true)
	return out
}

// Writer returns a Writer that passes on to w what it is given, without secrets, even if one arrives in pieces. It holds back only what may still
// be part of a secret or of an escape sequence, and the word in front of that: rarely anything after the end of a line, and never much more than
// the longest secret or eight kilobytes. Close passes on the rest; it does not close w.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser {
	return &writer{to: w, stages: []stage{&view{scanner: r.newScanner()}, &hidden{scanner: r.newScanner()}}}
}

// CleanWriter returns a Writer that also cleans, for text that is kept or shown.
func (r *Redactor) CleanWriter(w io.Writer) io.WriteCloser {
	return &writer{to: w, stages: []stage{&view{scanner: r.newScanner()}, &hidden{scanner: r.newScanner()}, &cleaner{}}}
}

// stage appends to out what it makes of text, as far as that is decided; all of it if text is final. ascii: text, or what was appended, consists of
// visibleASCII.
type stage interface {
	pass(out, text []byte, ascii, final bool) (_ []byte, _ bool)
	// holds returns what was given and not passed on, or its beginning.
	holds() []byte
}

type writer struct {
	to     io.Writer
	stages []stage
	// texts are the last outputs of the stages; the space is reused.
	texts [3][]byte
	// word is the beginning of a word whose end is held back.
	word []byte
}

func (w *writer) Write(p []byte) (int, error) { return len(p), w.pass(p, false) }

func (w *writer) Close() error { return w.pass(nil, true) }

func (w *writer) pass(text []byte, final bool) error {
	ascii := visibleRun(text) == len(text)
	for i, s := range w.stages {
		w.texts[i], ascii = s.pass(w.texts[i][:0], text, ascii, final)
		text = w.texts[i]
	}
	if text = w.wholeWords(text, final); len(text) == 0 {
		return nil
	}
	_, err := w.to.Write(text)
	return err
}

// wordLimit is the longest beginning of a word that is held back, in bytes.
const wordLimit = 64

// wholeWords returns the text to pass on without the beginning of a word whose end is held back: a live reader would see two words.
func (w *writer) wholeWords(text []byte, final bool) []byte {
	if len(w.word) > 0 {
		text = append(w.word, text...)
		w.word = nil
	}
	var next []byte // what follows, as far as it's held
	for i := len(w.stages) - 1; i >= 0 && len(next) == 0; i-- {
		next = w.stages[i].holds()
	}
	if final || len(next) == 0 || !wordBytes.has(next[0]) {
		return text
	}
	begin, least := len(text), sequenceEnd(text)
	for begin > least && len(text)-begin < wordLimit && wordBytes.has(text[begin-1]) {
		begin--
	}
	w.word = bytes.Clone(text[begin:])
	return text[:begin]
}

// sequenceEnd returns where the text after the last escape sequence begins. The letters and digits of a sequence are no word; holding them back
// would delay the output of programs whose sequence arrives in two parts.
func sequenceEnd(text []byte) int {
	begin := bytes.LastIndexByte(text, '\x1b')
	if begin < 0 {
		return 0
	}
	end := min(begin+2, len(text))
	if end-begin == 2 && text[begin+1] == '[' {
		for end < len(text) && (text[end] < 0x40 || text[end] > 0x7e) {
			end++
		}
		end++
	}
	return min(end, len(text))
}
