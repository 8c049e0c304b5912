package workflow

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// If two events shared a name, a history could not tell them apart; an event without one would leave an empty line.
func TestEveryEventHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for event := range eventNames {
		named[event.Name()] = true
	}
	declared := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		fields, ok := spec.Type.(*ast.StructType)
		if !ok || fields.Fields.NumFields() == 0 || len(fields.Fields.List[0].Names) > 0 { // no event: nothing is embedded in it
			return true
		}
		declared++
		if !named[spec.Name.Name] {
			t.Errorf("the event %s has no name", spec.Name.Name)
		}
		return true
	})
	if declared < 50 {
		t.Fatalf("read %d events, so this test looks in the wrong place", declared)
	}
	types := map[EventName]string{EventCreated: "the store", EventRecovered: "the store"}
	for event, name := range eventNames {
		if other, taken := types[name]; taken {
			t.Errorf("%s and %s share the name %s", event.Name(), other, name)
		}
		types[name] = event.Name()
	}
}
