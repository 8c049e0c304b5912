// Package schema owns the published JSON Schemas (2020-12) of the documents and checks documents against them. Rules that a schema can't express,
// between two keys or two files, are checked by the store.
package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"signalbox/schemas"
)

// ErrUnknown: no schema has this name.
var ErrUnknown = errors.New("no such schema")

// Breach is one place where a document breaks its schema.
type Breach struct {
	// Pointer is the place, as a JSON Pointer (RFC 6901); Reason says what is wrong there.
	Pointer, Reason string
}

// Names returns the names of the schemas.
func Names() []string {
	files, _ := fs.Glob(schemas.Files, "*.json") // the pattern is valid
	for i := range files {
		files[i] = strings.TrimSuffix(files[i], ".json")
	}
	return files
}

// Text returns the schema of this name as published, or ErrUnknown.
func Text(name string) ([]byte, error) {
	data, err := schemas.Files.ReadFile(strings.TrimSuffix(name, ".json") + ".json")
	if err != nil {
		return nil, fmt.Errorf("schema %q: %w", name, ErrUnknown)
	}
	return data, nil
}

// Check compares a well-formed JSON document with the schema of this name.
func Check(name string, document []byte) ([]Breach, error) {
	if schema, ok := cache.Load(name); ok {
		return schema.(*Schema).Check(document)
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
	return schema.Check(document)
}

var cache sync.Map // *Schema by name
