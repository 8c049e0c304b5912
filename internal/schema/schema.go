// Package schema owns the published JSON Schemas (2020-12) of the documents and
// checks documents against them. It refuses to say more than a schema can:
// what must hold between two keys or two files is the store's to check.
package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"signalbox/schemas"
)

// ErrUnknown: there is no schema of that name.
var ErrUnknown = errors.New("no such schema")

// Breach is one thing in which a document differs from its schema.
type Breach struct {
	// Pointer says where, as a JSON Pointer (RFC 6901).
	Pointer, Reason string
}

// Names lists the schemas.
func Names() []string {
	files, _ := fs.Glob(schemas.Files, "*.json") // the pattern is valid
	for i := range files {
		files[i] = strings.TrimSuffix(files[i], ".json")
	}
	return files
}

// Text is the schema of that name as it is published.
func Text(name string) ([]byte, error) {
	data, err := schemas.Files.ReadFile(strings.TrimSuffix(name, ".json") + ".json")
	if err != nil {
		return nil, fmt.Errorf("schema %q: %w", name, ErrUnknown)
	}
	return data, nil
}

// Check compares a JSON document, which is well-formed, with the schema of that name.
func Check(name string, document []byte) ([]Breach, error) {
	schema, err := compiled(name)
	if err != nil {
		return nil, err
	}
	return schema.Check(document)
}

var cache sync.Map // of *Schema by name

func compiled(name string) (*Schema, error) {
	if schema, ok := cache.Load(name); ok {
		return schema.(*Schema), nil
	}
	text, err := Text(name)
	if err != nil {
		return nil, err
	}
	schema, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	cache.Store(name, schema)
	return schema, nil
}
