// Package redact removes what must not be written or shown: secrets, and characters that deceive the reader of a terminal or a page. It doesn't know
// where secrets come from or where the text goes.
//
// A Redactor searches a text both as it is and as Clean leaves it, so cleaning it before or after makes no difference: nothing that Clean removes
// can split a secret.
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

// Add adds more values, also for Writers in use. A name may have several values.
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

// String returns s without secrets. Invisible characters stay unless they are within a secret.
func (r *Redactor) String(s string) string { return string(r.Bytes([]byte(s))) }

// Text returns s without secrets and cleaned, ready to show to a person or a program.
func (r *Redactor) Text(s string) string { return Clean(r.String(s)) }

// Line returns s without secrets, cleaned, as one line of at most limit characters. See the function Line.
func (r *Redactor) Line(s string, limit int) string { return Line(r.String(s), limit) }

// Bytes returns a copy of p without secrets, as String does.
func (r *Redactor) Bytes(p []byte) []byte {
	if visibleRun(p) == len(p) { // as most text is: nothing splits a secret, and none is partly unseen
		s := r.newScanner()
		out, _ := s.scan(make([]byte, 0, len(p)), p, len(p), true)
		return out
	}
	out, _, _ := (&view{scanner: r.newScanner()}).pass(make([]byte, 0, len(p)), p, false, true)
	if visibleRun(out) == len(out) {
		return out
	}
	out, _, _ = (&hidden{scanner: r.newScanner()}).pass(make([]byte, 0, len(out)), out, false, true)
	return out
}

// Writer returns a Writer that passes its input on to w without secrets, even if one arrives in pieces. It holds back only what may still be part of
// a secret or of an escape sequence, and the word in front of that: rarely anything after the end of a line, and never much more than the longest
// secret or eight kilobytes. Close passes on the rest; it doesn't close w.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser {
	return &writer{to: w, stages: []stage{&view{scanner: r.newScanner()}, &hidden{scanner: r.newScanner()}}}
}

// CleanWriter returns a Writer that also cleans, for text to keep or show.
func (r *Redactor) CleanWriter(w io.Writer) io.WriteCloser {
	return &writer{to: w, stages: []stage{&view{scanner: r.newScanner()}, &hidden{scanner: r.newScanner()}, &cleaner{}}}
}

// stage transforms text and appends the result to out, as far as it is decided; all of it if text is final. held is the part of the input that it
// has not passed on, or the beginning of that. ascii: text, or what was appended, consists of visibleASCII.
type stage interface {
	pass(out, text []byte, ascii, final bool) (_, held []byte, _ bool)
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
	var next []byte // what follows the text, as far as a stage holds it
	for i, s := range w.stages {
		var held []byte
		if w.texts[i], held, ascii = s.pass(w.texts[i][:0], text, ascii, final); len(held) > 0 {
			next = held
		}
		text = w.texts[i]
	}
	if text = w.wholeWords(text, next, final); len(text) == 0 {
		return nil
	}
	_, err := w.to.Write(text)
	return err
}

// wordLimit is the longest beginning of a word to hold back, in bytes.
const wordLimit = 64

// wholeWords returns the text to pass on without the beginning of a word whose end is held back: a live reader would see two words.
func (w *writer) wholeWords(text, next []byte, final bool) []byte {
	if len(w.word) > 0 {
		text = append(w.word, text...)
		w.word = nil
	}
	if final || len(next) == 0 || !wordBytes[next[0]] {
		return text
	}
	// The letters and digits of an escape sequence are no word; holding them back would delay the output of programs whose sequence arrives in
	// two parts. So the word begins after the last sequence.
	least := 0
	if escaped := bytes.LastIndexByte(text, escape); escaped >= 0 {
		least = escaped + 2
		if least <= len(text) && text[least-1] == '[' {
			for least < len(text) && (text[least] < 0x40 || text[least] > 0x7e) {
				least++
			}
			least++
		}
		least = min(least, len(text))
	}
	begin := len(text)
	for begin > least && len(text)-begin < wordLimit && wordBytes[text[begin-1]] {
		begin--
	}
	w.word = bytes.Clone(text[begin:])
	return text[:begin]
}
