package schema_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"signalbox/internal/schema"
)

type object = map[string]any

// A planner's answer is held to a stricter schema than planning.json, and never to a different one: a valid answer always makes a valid document.
func TestThePlannersContractIsWithinThePlansSchema(t *testing.T) {
	t.Parallel()
	answer, err := os.ReadFile("../perform/contract/schemas/planning.json")
	if err != nil {
		t.Fatal(err)
	}
	published, err := schema.Text("planning")
	if err != nil {
		t.Fatal(err)
	}
	contract, document := parsed(t, answer), parsed(t, published)
	if n := holdWithin(t, "", contract, document, contract, document); n < 15 {
		t.Errorf("only %d keys were compared", n)
	}
}

func parsed(t *testing.T, data []byte) (o object) {
	t.Helper()
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// holdWithin compares two schemas key by key and counts the keys.
func holdWithin(t *testing.T, at string, contract, document, contractRoot, documentRoot object) (keys int) {
	t.Helper()
	contract, document = resolved(contract, contractRoot), resolved(document, documentRoot)
	for _, got := range typesOf(contract) {
		if want := typesOf(document); !slices.Contains(want, got) {
			t.Errorf("%s: the contract says %s, the document %v", at, got, want)
		}
	}
	for _, name := range list(document["required"]) {
		if !slices.Contains(list(contract["required"]), name) {
			t.Errorf("%s: an answer may leave out %q, the document not", at, name)
		}
	}
	for _, word := range list(contract["enum"]) {
		if words := list(document["enum"]); len(words) > 0 && !slices.Contains(words, word) {
			t.Errorf("%s: the contract allows %q, the document not", at, word)
		}
	}
	members, _ := document["properties"].(object)
	properties, _ := contract["properties"].(object)
	for name, inner := range properties {
		if members[name] == nil {
			t.Errorf("%s/%s is not in the document", at, name)
			continue
		}
		keys += 1 + holdWithin(t, at+"/"+name, inner.(object), members[name].(object), contractRoot, documentRoot)
	}
	if items, ok := contract["items"].(object); ok {
		keys += holdWithin(t, at+"/*", items, document["items"].(object), contractRoot, documentRoot)
	}
	return keys
}

func resolved(o, root object) object {
	ref, ok := o["$ref"].(string)
	if !ok {
		return o
	}
	return root["$defs"].(object)[strings.TrimPrefix(ref, "#/$defs/")].(object)
}

// typesOf are the JSON types that a schema allows; an enumeration here is of texts.
func typesOf(o object) []string {
	if one, ok := o["type"].(string); ok {
		return []string{one}
	}
	if o["type"] == nil && o["enum"] != nil {
		return []string{"string"}
	}
	return list(o["type"])
}

func list(value any) (texts []string) {
	entries, _ := value.([]any)
	for _, entry := range entries {
		texts = append(texts, entry.(string))
	}
	return texts
}
