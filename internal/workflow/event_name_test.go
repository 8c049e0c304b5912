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
	named, used := map[string]bool{}, map[string]string{`"Created"`: "the store", `"Recovered"`: "the store"}
	inspect(t, "event_name.go", func(n ast.Node) {
		clause, ok := n.(*ast.CaseClause)
		if !ok {
			return
		}
		event, name := clause.List[0].(*ast.Ident).Name, clause.Body[0].(*ast.ReturnStmt).Results[0].(*ast.BasicLit).Value
		if other, taken := used[name]; taken {
			t.Errorf("%s and %s share the name %s", event, other, name)
		}
		named[event], used[name] = true, event
	})
	declared := 0
	inspect(t, "event.go", func(n ast.Node) {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return
		}
		fields, ok := spec.Type.(*ast.StructType)
		if !ok || fields.Fields.NumFields() == 0 || len(fields.Fields.List[0].Names) > 0 { // no event: nothing is embedded in it
			return
		}
		if declared++; !named[spec.Name.Name] {
			t.Errorf("the event %s has no name", spec.Name.Name)
		}
	})
	if declared < 50 || len(named) != declared {
		t.Fatalf("read %d events and %d names, so this test looks in the wrong place", declared, len(named))
	}
}

func inspect(t *testing.T, name string, visit func(ast.Node)) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		visit(n)
		return true
	})
}
