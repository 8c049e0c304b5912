package strict

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/workflow"
)

// Flaw is the reason why a document is broken, before its path is known. The
// pointer is the place; empty means the whole document. A flaw of the text, which
// no pointer can name, has an offset instead.
type Flaw struct {
	pointer string
	err     error
	ofText  bool
	offset  int64
}

func (f *Flaw) Error() string { return f.err.Error() }
func (f *Flaw) Unwrap() error { return f.err }

// Position returns the line and the column of err.
func Position(data []byte, err error) (line, column int) {
	if f := (*Flaw)(nil); errors.As(err, &f) {
		if f.ofText {
			return position(data, f.offset)
		}
		return Locate(data, f.pointer)
	}
	if e := (*workflow.InvalidError)(nil); errors.As(err, &e) {
		return Locate(data, e.Pointer)
	}
	return position(data, 0)
}

// Locate returns the line and the column, counted from 1, of what pointer names in
// a JSON document: of an object's member the name, of a list's entry its first
// character. If it doesn't exist, Locate returns the nearest thing around it.
func Locate(data []byte, pointer string) (line, column int) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data))
	best, found := next(data, 0), -1
	for found < len(pointer) {
		start := next(data, dec.InputOffset())
		if _, err := dec.ReadToken(); err != nil {
			break
		}
		at := string(dec.StackPointer())
		if len(at) > found && Within(at, pointer) {
			best, found = start, len(at)
		}
	}
	return position(data, best)
}

// Within reports whether the value at pointer is the one at outer or inside it.
func Within(outer, pointer string) bool {
	return outer == pointer || strings.HasPrefix(pointer, outer+"/")
}

// next returns where the token after offset begins.
func next(data []byte, offset int64) int64 {
	rest := data[min(offset, int64(len(data))):]
	return int64(len(data) - len(bytes.TrimLeft(rest, " \t\r\n,:")))
}

func position(data []byte, offset int64) (line, column int) {
	before := data[:min(offset, int64(len(data)))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}
