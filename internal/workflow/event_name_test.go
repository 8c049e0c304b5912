package workflow

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// If two events shared a name, a history could not tell them apart.
func TestNoTwoEventsShareAName(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "event_name.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if seen[literal.Value] {
				t.Errorf("the name %s is used twice", literal.Value)
			}
			seen[literal.Value] = true
		}
		return true
	})
	if len(seen) < 50 {
		t.Fatalf("read %d names, so this test looks in the wrong place", len(seen))
	}
}
