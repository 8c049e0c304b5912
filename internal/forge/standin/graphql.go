package standin

import (
	"encoding/json"
	"io"
	"sync"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"
)

// GraphQL is a schema that every document and every answer is held against.
type GraphQL struct{ types func() (*ast.Schema, error) }

// Schema reads a schema at its first use.
func Schema(text string) GraphQL {
	return GraphQL{sync.OnceValues(func() (*ast.Schema, error) {
		return gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: text})
	})}
}

type object = map[string]any

// Field computes a field that has arguments.
type Field func(arguments map[string]any) (any, *GraphQLError)

// GraphQLError is one of the errors that are answered with status 200.
type GraphQLError struct {
	Type    string `json:"type,omitempty"`
	Message string `json:"message"`
}

// Answer performs the query or the mutation in a request's body. It has the fields of query or mutation to select from.
func (g GraphQL) Answer(t testing.TB, body io.Reader, query, mutation map[string]any) map[string]any {
	var asked struct {
		Query     string
		Variables map[string]any
	}
	if err := json.NewDecoder(body).Decode(&asked); err != nil {
		t.Errorf("GraphQL: %v", err)
	}
	types, err := g.types()
	if err != nil {
		t.Errorf("read the schema: %v", err)
		return nil
	}
	document, problems := gqlparser.LoadQuery(types, asked.Query)
	if problems != nil {
		t.Errorf("GraphQL: %v in %s", problems, asked.Query)
		return nil
	}
	operation := document.Operations[0]
	variables, err := validator.VariableValues(types, operation, asked.Variables)
	if err != nil {
		t.Errorf("GraphQL: %v in %s", err, asked.Query)
		return nil
	}
	root := query
	if operation.Operation == ast.Mutation {
		root = mutation
	}
	s := selection{t, types, variables}
	data, failed := s.selected(operation.SelectionSet, root)
	if failed != nil {
		return object{"data": nil, "errors": []*GraphQLError{failed}}
	}
	return object{"data": data}
}

// selection holds values against the schema's types.
type selection struct {
	t         testing.TB
	types     *ast.Schema
	variables map[string]any
}

// selected returns what a selection asks for of a value.
func (s selection) selected(set ast.SelectionSet, of object) (object, *GraphQLError) {
	made := object{}
	for _, selection := range set {
		f := selection.(*ast.Field)
		value, ok := of[f.Name]
		if compute, computed := value.(Field); computed {
			var failed *GraphQLError
			if value, failed = compute(f.ArgumentMap(s.variables)); failed != nil {
				return nil, failed
			}
		}
		if !ok || value == nil && f.Definition.Type.NonNull {
			s.t.Errorf("GraphQL: the stand-in has no %s.%s", f.ObjectDefinition.Name, f.Name)
		}
		var failed *GraphQLError
		if made[f.Alias], failed = s.typed(f, value); failed != nil {
			return nil, failed
		}
	}
	return made, nil
}

func (s selection) typed(f *ast.Field, value any) (any, *GraphQLError) {
	switch value := value.(type) {
	case nil:
		return nil, nil
	case object:
		return s.selected(f.SelectionSet, value)
	case []any:
		made := []any{}
		for _, inner := range value {
			one, failed := s.typed(f, inner)
			if failed != nil {
				return nil, failed
			}
			made = append(made, one)
		}
		return made, nil
	}
	s.scalar(f, value)
	return value, nil
}

// scalar checks a value against its type.
func (s selection) scalar(f *ast.Field, value any) {
	definition := s.types.Types[f.Definition.Type.Name()]
	ok := true
	switch text, isText := value.(string); {
	case definition.Kind == ast.Enum:
		ok = isText && definition.EnumValues.ForName(text) != nil
	case definition.Name == "Boolean":
		_, ok = value.(bool)
	case definition.Name == "Int":
		_, ok = value.(int)
	default: // ID, String, and vendors' own: all are written as text
		ok = isText
	}
	if !ok {
		s.t.Errorf("GraphQL: the stand-in's %s is %v, and should be %s", f.Name, value, definition.Name)
	}
}
