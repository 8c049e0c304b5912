package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema is a JSON Schema whose check reports every breach, not only the first, so that an agent or a person can fix a document in one go.
type Schema struct {
	root *jsonschema.Schema
	// parts are the schema's nodes without their children, resolved.
	parts map[*jsonschema.Schema]*jsonschema.Resolved
}

// Parse reads a schema. References may lead only to its own $defs.
func Parse(text []byte) (*Schema, error) {
	s := &Schema{root: &jsonschema.Schema{}, parts: map[*jsonschema.Schema]*jsonschema.Resolved{}}
	if err := json.Unmarshal(text, s.root); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	return s, s.prepare(s.root)
}

func (s *Schema) prepare(node *jsonschema.Schema) error {
	if node == nil || s.parts[node] != nil {
		return nil
	}
	part := *node
	part.Ref, part.Defs, part.Properties, part.Items, part.AnyOf = "", nil, nil, nil, nil
	resolved, err := part.Resolve(nil)
	if err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	s.parts[node] = resolved
	below := append([]*jsonschema.Schema{node.Items}, node.AnyOf...)
	below = slices.AppendSeq(below, maps.Values(node.Properties))
	if node.Ref != "" {
		target, ok := s.root.Defs[strings.TrimPrefix(node.Ref, "#/$defs/")]
		if !ok {
			return fmt.Errorf("read schema: there is no %q", node.Ref)
		}
		below = append(below, target)
	}
	for _, inner := range below {
		if err := s.prepare(inner); err != nil {
			return err
		}
	}
	return nil
}

// Check compares a well-formed JSON document with the schema.
func (s *Schema) Check(document []byte) ([]Breach, error) {
	var value any
	if err := json.Unmarshal(document, &value); err != nil {
		return nil, fmt.Errorf("check against schema: %w", err)
	}
	return s.check("", s.root, value), nil
}

// escape makes a key a part of a JSON Pointer (RFC 6901).
var escape = strings.NewReplacer("~", "~0", "/", "~1")

func (s *Schema) check(at string, node *jsonschema.Schema, value any) (all []Breach) {
	if err := s.parts[node].Validate(value); err != nil {
		return []Breach{{at, strings.TrimPrefix(err.Error(), "validating root: ")}}
	}
	if text, ok := value.(string); ok && node.Format == "date-time" {
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			all = append(all, Breach{at, fmt.Sprintf("format: %q is no date-time", text)})
		}
	}
	if node.Ref != "" {
		all = append(all, s.check(at, s.root.Defs[strings.TrimPrefix(node.Ref, "#/$defs/")], value)...)
	}
	all = append(all, s.any(at, node.AnyOf, value)...)
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if inner := node.Properties[name]; inner != nil {
				all = append(all, s.check(at+"/"+escape.Replace(name), inner, value[name])...)
			}
		}
	case []any:
		for i := range value {
			if node.Items != nil {
				all = append(all, s.check(at+"/"+strconv.Itoa(i), node.Items, value[i])...)
			}
		}
	}
	return all
}

// any reports the breaches of the closest alternative: in the published schemas, the one that isn't null.
func (s *Schema) any(at string, nodes []*jsonschema.Schema, value any) (closest []Breach) {
	for i, node := range nodes {
		breaches := s.check(at, node, value)
		if len(breaches) == 0 {
			return nil
		}
		if i == 0 || deepest(breaches) > deepest(closest) {
			closest = breaches
		}
	}
	return closest
}

func deepest(breaches []Breach) (depth int) {
	for _, b := range breaches {
		depth = max(depth, strings.Count(b.Pointer, "/"))
	}
	return depth
}
