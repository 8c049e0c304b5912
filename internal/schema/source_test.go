package schema_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// words are what the source says about its types: their comments, their fields'
// comments ("Type.Field"), and the constants that are all a type's values.
type words struct {
	comments map[string]string
	values   map[string][]value
}

type value struct{ name, text, comment string }

func readWords(t *testing.T, dirs ...string) words {
	t.Helper()
	w := words{map[string]string{}, map[string][]value{}}
	for _, dir := range dirs {
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("no source in %s: %v", dir, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range file.Decls {
				if gen, ok := decl.(*ast.GenDecl); ok {
					w.read(prefixes[filepath.Base(dir)], gen)
				}
			}
		}
	}
	return w
}

func (w words) read(prefix string, gen *ast.GenDecl) {
	for _, spec := range gen.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			w.comments[prefix+spec.Name.Name] = sentence(spec.Doc, gen.Doc)
			if fields, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range fields.Fields.List {
					for _, name := range field.Names {
						w.comments[prefix+spec.Name.Name+"."+name.Name] = sentence(field.Doc, field.Comment)
					}
				}
			}
		case *ast.ValueSpec:
			w.readConstant(prefix, gen, spec)
		}
	}
}

func (w words) readConstant(prefix string, gen *ast.GenDecl, spec *ast.ValueSpec) {
	typ, ok := spec.Type.(*ast.Ident)
	if gen.Tok != token.CONST || !ok || len(spec.Values) != 1 {
		return
	}
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return
	}
	text, _ := strconv.Unquote(literal.Value)
	comment := strings.TrimPrefix(sentence(spec.Doc, spec.Comment), spec.Names[0].Name+": ")
	w.values[prefix+typ.Name] = append(w.values[prefix+typ.Name], value{spec.Names[0].Name, text, comment})
}

func sentence(comments ...*ast.CommentGroup) string {
	for _, comment := range comments {
		if text := strings.Join(strings.Fields(comment.Text()), " "); text != "" {
			return text
		}
	}
	return ""
}
