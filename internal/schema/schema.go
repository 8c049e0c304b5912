// Package schema owns the published JSON Schemas (2020-12) of the documents and
// checks documents against them. It refuses to say more than a schema can:
// what must hold between two keys or two files is the store's to check.
package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

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
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("check against schema %s: %w", name, err)
	}
	var invalid *jsonschema.ValidationError
	if err := schema.Validate(value); err == nil || !errors.As(err, &invalid) {
		return nil, err
	}
	var breaches []Breach
	for _, unit := range invalid.BasicOutput().Errors {
		if breach := (Breach{unit.InstanceLocation, fmt.Sprint(unit.Error)}); unit.Error != nil && !slices.Contains(breaches, breach) {
			breaches = append(breaches, breach)
		}
	}
	return breaches, nil
}

var cache sync.Map // of *jsonschema.Schema by name

func compiled(name string) (*jsonschema.Schema, error) {
	if schema, ok := cache.Load(name); ok {
		return schema.(*jsonschema.Schema), nil
	}
	text, err := Text(name)
	if err != nil {
		return nil, err
	}
	source, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read schema %s: %w", name, err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(name, source); err != nil {
		return nil, fmt.Errorf("read schema %s: %w", name, err)
	}
	schema, err := compiler.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("compile schema %s: %w", name, err)
	}
	cache.Store(name, schema)
	return schema, nil
}
