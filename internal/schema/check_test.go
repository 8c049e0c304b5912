package schema_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"signalbox/internal/schema"
)

const planAnswer = `{"goal_understanding":"g","task_decomposition":["a","b"],"design_check":{"feasible":true,"ambiguous_points":["x"]},
"selected_environment":{"name":"go","setup_commands":["true"],"verification":[{"command":"true","expected_output":""}]},
"action_plan":{"steps":[{"step_id":"S01","title":"t","role":"implementer","phase":"tdd-red","instructions":"i"}]}}`

func TestEveryBreachIsReportedWithItsPlace(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../perform/contract/schemas/planning.json")
	if err != nil {
		t.Fatal(err)
	}
	contract, err := schema.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if breaches, err := contract.Check([]byte(planAnswer)); err != nil || len(breaches) > 0 {
		t.Errorf("a good answer has %v, %v", breaches, err)
	}
	broken := strings.NewReplacer(`"go"`, `"--cobol"`, `"S01"`, `"1"`, `"title":"t",`, "", `"feasible":true`, `"feasible":"yes"`, `"expected_output":""`, `"expected_output":7`).Replace(planAnswer)
	breaches, err := contract.Check([]byte(broken))
	if err != nil {
		t.Fatal(err)
	}
	var places []string
	for _, b := range breaches {
		places = append(places, b.Pointer)
		if b.Reason == "" || strings.Contains(b.Reason, "validating root") {
			t.Errorf("%s: %s", b.Pointer, b.Reason)
		}
	}
	want := []string{"/action_plan/steps/0", "/design_check/feasible", "/selected_environment/name", "/selected_environment/verification/0/expected_output"}
	if !slices.Equal(places, want) {
		t.Errorf("breaches are %v, want places %v", breaches, want)
	}
}

// An independent implementation agrees about every document on whether it is valid.
func TestAnotherImplementationAgrees(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../schemas/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	contracts, _ := filepath.Glob("../perform/contract/schemas/*.json")
	var valid, invalid atomic.Int64
	t.Cleanup(func() {
		if valid.Load() < 100 || invalid.Load() < 100 {
			t.Errorf("%d valid and %d invalid documents say little", valid.Load(), invalid.Load())
		}
	})
	for _, file := range append(files, contracts...) {
		t.Run(filepath.ToSlash(strings.TrimPrefix(file, "../")), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			ours, err := schema.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			theirs, root := other(t, text), parsed(t, text)
			rapid.Check(t, func(t *rapid.T) {
				document, err := json.Marshal(drawn(t, root, root, 0), json.Deterministic(true))
				if err != nil {
					t.Fatal(err)
				}
				breaches, err := ours.Check(document)
				value, parseErr := jsonschema.UnmarshalJSON(bytes.NewReader(document))
				if err != nil || parseErr != nil {
					t.Fatal(err, parseErr)
				}
				verdict := theirs.Validate(value)
				if (len(breaches) == 0) != (verdict == nil) {
					t.Fatalf("%s\nours: %v\ntheirs: %v", document, breaches, verdict)
				}
				if verdict == nil {
					valid.Add(1)
				} else {
					invalid.Add(1)
				}
			})
		})
	}
}

func other(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	source, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("schema", source); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("schema")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// drawn is a document that mostly follows the schema, and sometimes goes astray.
func drawn(t *rapid.T, node, root object, depth int) any {
	if rapid.IntRange(0, 60).Draw(t, "astray") == 0 {
		return rapid.SampledFrom([]any{nil, true, "", "x", -1, 0, 1.5, 99999, []any{}, []any{nil}, object{}, object{"x": 1}}).Draw(t, "anything")
	}
	node = resolved(node, root)
	if either, ok := node["anyOf"].([]any); ok {
		return drawn(t, rapid.SampledFrom(either).Draw(t, "either").(object), root, depth)
	}
	if words, ok := node["enum"].([]any); ok {
		return rapid.SampledFrom(words).Draw(t, "word")
	}
	if word, ok := node["const"]; ok {
		return word
	}
	types := typesOf(node)
	if len(types) == 0 {
		return nil
	}
	switch rapid.SampledFrom(types).Draw(t, "type") {
	case "object":
		return drawnObject(t, node, root, depth)
	case "array":
		items, _ := node["items"].(object)
		list := []any{}
		for range rapid.IntRange(0, 2).Draw(t, "length") {
			list = append(list, drawn(t, items, root, depth+1))
		}
		return list
	case "integer", "number":
		return rapid.IntRange(-1, 20).Draw(t, "number")
	case "boolean":
		return rapid.Bool().Draw(t, "boolean")
	case "null":
		return nil
	}
	texts := []string{"S01", "x", "2026-11-20T01:02:03Z", "2026-11-20T01:02:03.5+09:00"}
	if node["format"] == "date-time" {
		texts = append(texts[2:], "2026-11-20", "2026-11-20T01:02:03")
	} else if node["pattern"] != nil {
		texts = append(texts, "S01", "20261120-010203-abcdef", "RQ-20261120-007", "a\nb", "")
	}
	return rapid.SampledFrom(texts).Draw(t, "text")
}

func drawnObject(t *rapid.T, node, root object, depth int) object {
	made := object{}
	required := list(node["required"])
	properties, _ := node["properties"].(object)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		inner := properties[name]
		always := slices.Contains(required, name)
		if always && rapid.IntRange(0, 60).Draw(t, "left out") > 0 || !always && depth < 4 && rapid.Bool().Draw(t, "there") {
			made[name] = drawn(t, inner.(object), root, depth+1)
		}
	}
	return made
}
