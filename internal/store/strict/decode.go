// Package strict reads JSON documents strictly: it refuses anything that two
// readers could understand differently, and says where by line and column. It
// knows JSON and Go types, but no files.
package strict

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrVersion: a document was written by another version of its format.
var ErrVersion = errors.New("document has an unknown version")

// Limits of one document. Ours are a few kilobytes; a larger one is an accident
// or an attack, and would cost every reader its memory.
const (
	MaxSize  = 8 << 20 // bytes
	MaxDepth = 100
)

// Decode reads exactly one JSON object into a T and refuses anything that two
// readers could understand differently: a repeated name, a name that differs from
// one of ours by case alone, invalid UTF-8, anything after the object. Its errors
// are flaws.
func Decode[T any](data []byte, version string) (T, error) {
	var value T
	var head *struct {
		Version string `json:"version"`
	}
	// The version comes first: about a document of another version nothing else is known to be wrong.
	if version != "" && json.Unmarshal(data, &head) == nil && head != nil && head.Version != version {
		return value, &Flaw{pointer: "/version", err: fmt.Errorf("%w: %q, and this program knows %q", ErrVersion, head.Version, version)}
	}
	if err := scan(data, reflect.TypeFor[T]()); err != nil {
		return value, err
	}
	if err := json.Unmarshal(data, &value, exactNumbers); err != nil {
		e := (*json.SemanticError)(nil)
		if !errors.As(err, &e) {
			return value, &Flaw{err: err}
		}
		reason := fmt.Errorf("%s: not %s", e.JSONPointer, wanted(e.GoType)) // in a document's words, not in Go's
		if e.Err != nil {
			reason = fmt.Errorf("%w: %w", reason, e.Err)
		}
		return value, &Flaw{pointer: string(e.JSONPointer), err: reason}
	}
	return value, nil
}

// wanted describes the JSON value of a Go type.
func wanted(t reflect.Type) string {
	switch {
	case t == nil:
		return "the right value"
	case t == reflect.TypeFor[time.Time]():
		return "a time (RFC 3339)"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

// exactNumbers keeps a number in a free-form value (Error.Meta, Blocked.Context)
// as written when a float64 would change it.
var exactNumbers = json.WithUnmarshalers(json.UnmarshalFromFunc(func(dec *jsontext.Decoder, value *any) error {
	if dec.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	number, err := strconv.ParseFloat(string(raw), 64)
	if back, e := json.Marshal(number); err != nil || e != nil || !bytes.Equal(back, raw) {
		*value = raw.Clone()
		return nil
	}
	*value = number
	return nil
}))
