//go:build ignore

// Trim cuts GitHub's published descriptions down to what the driver calls. Get the packages and run it in this folder:
//
//	npm install --prefix DIR @octokit/openapi@23.0.2 @octokit/graphql-schema@15.26.1 @octokit/webhooks-examples@7.6.1
//	go run trim.go DIR/node_modules/@octokit
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2"
	gql "github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	gqlparse "github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run trim.go DIR/node_modules/@octokit")
	}
	write("testdata/openapi.json.gz", openapi(filepath.Join(os.Args[1], "openapi/generated/api.github.com.json")))
	write("testdata/schema.graphql", graphql(filepath.Join(os.Args[1], "graphql-schema/schema.graphql")))
	write("../testdata/webhooks.json.gz", webhooks(filepath.Join(os.Args[1], "webhooks-examples/api.github.com/index.json")))
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func write(name string, content []byte) {
	packed := *bytes.NewBuffer(content)
	if filepath.Ext(name) == ".gz" {
		packed = compressed(content)
	}
	if err := os.WriteFile(name, packed.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d KB, written %d KB\n", name, len(content)>>10, packed.Len()>>10)
}

func compressed(content []byte) (packed bytes.Buffer) {
	w := must(gzip.NewWriterLevel(&packed, gzip.BestCompression))
	must(w.Write(content))
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	return packed
}

type object = map[string]any

func read(name string) (document any) {
	decoder := json.NewDecoder(bytes.NewReader(must(os.ReadFile(name))))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		log.Fatal(err)
	}
	return document
}

// openapi keeps the operations that are listed, and what they refer to.
func openapi(name string) []byte {
	full := read(name).(object)
	paths := object{}
	for line := range strings.Lines(string(must(os.ReadFile("testdata/operations.txt")))) {
		method, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		operation, ok := full["paths"].(object)[path].(object)[strings.ToLower(method)]
		if !ok {
			log.Fatalf("there is no %s %s", method, path)
		}
		if paths[path] == nil {
			paths[path] = object{}
		}
		paths[path].(object)[strings.ToLower(method)] = stripped(operation, false)
	}
	trimmed := object{"openapi": full["openapi"], "info": full["info"], "paths": paths, "components": object{}}
	for open := references(paths); len(open) > 0; {
		var next []string
		for _, reference := range open {
			kind, key, _ := strings.Cut(strings.TrimPrefix(reference, "#/components/"), "/")
			kinds, _ := trimmed["components"].(object)[kind].(object)
			if kinds == nil {
				kinds = object{}
				trimmed["components"].(object)[kind] = kinds
			}
			if _, done := kinds[key]; done {
				continue
			}
			kinds[key] = stripped(full["components"].(object)[kind].(object)[key], kind == "examples")
			next = append(next, references(kinds[key])...)
		}
		open = next
	}
	return must(json.Marshal(trimmed))
}

// stripped leaves out prose. data: it is an example, in which the same words are content.
func stripped(value any, data bool) any {
	switch value := value.(type) {
	case object:
		kept := object{}
		for name, inner := range value {
			_, text := inner.(string)
			switch {
			case data:
				kept[name] = inner
			case strings.HasPrefix(name, "x-"), name == "externalDocs", name == "callbacks", name == "example" && !isSchema(inner), text && (name == "description" || name == "summary" || name == "title"):
				if name == "description" && value["content"] != nil || name == "description" && value["headers"] != nil {
					kept[name] = "-" // a response must have one
				}
			case name == "examples":
				kept[name] = first(inner)
			default:
				kept[name] = stripped(inner, name == "value" || name == "default" || name == "enum")
			}
		}
		if _, ok := value["description"].(string); ok && !data && value["type"] == nil && value["$ref"] == nil {
			kept["description"] = "-"
		}
		return kept
	case []any:
		kept := make([]any, len(value))
		for i, inner := range value {
			kept[i] = stripped(inner, data)
		}
		return kept
	}
	return value
}

// isSchema tells a property that is named example from an example.
func isSchema(value any) bool {
	o, ok := value.(object)
	return ok && (o["type"] != nil || o["$ref"] != nil)
}

// first keeps the first of several examples, by name.
func first(examples any) any {
	named, ok := examples.(object)
	if !ok {
		return examples
	}
	key := slices.Min(slices.Collect(maps.Keys(named)))
	if named["default"] != nil {
		key = "default"
	}
	return object{key: named[key]}
}

func references(value any) (found []string) {
	switch value := value.(type) {
	case object:
		if reference, ok := value["$ref"].(string); ok {
			found = append(found, reference)
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			found = append(found, references(value[key])...)
		}
	case []any:
		for _, inner := range value {
			found = append(found, references(inner)...)
		}
	}
	return found
}

// graphql keeps the fields that the driver's documents select, and their arguments.
func graphql(name string) []byte {
	schema := loaded(string(must(os.ReadFile(name))))
	used := map[string]map[string]bool{}
	for _, text := range documents("../graphql.go") {
		document, err := gqlparser.LoadQuery(schema, text)
		if err != nil {
			log.Fatalf("%v in %s", err, text)
		}
		for _, operation := range document.Operations {
			mark(schema, used, operation.SelectionSet)
			for _, variable := range operation.VariableDefinitions {
				markInput(schema, used, variable.Type.Name())
			}
		}
	}
	for name, definition := range schema.Types {
		if used[name] == nil && !definition.BuiltIn {
			delete(schema.Types, name)
			continue
		}
		definition.Interfaces, definition.Directives, definition.Description = nil, nil, ""
		if definition.Kind == gql.Object || definition.Kind == gql.Interface {
			definition.Fields = slices.DeleteFunc(definition.Fields, func(f *gql.FieldDefinition) bool {
				return !used[name][f.Name] && !strings.HasPrefix(f.Name, "__")
			})
		}
		for _, field := range definition.Fields {
			field.Directives, field.Description = nil, ""
			for _, argument := range field.Arguments {
				argument.Description, argument.Directives = "", nil
				markInput(schema, used, argument.Type.Name())
			}
		}
		for _, value := range definition.EnumValues {
			value.Description, value.Directives = "", nil
		}
	}
	schema.Directives = nil
	schema.Subscription = nil
	var text bytes.Buffer
	formatter.NewFormatter(&text).FormatSchema(schema)
	return text.Bytes()
}

// loaded leaves out second definitions of a field, which the published schema has and its own specification forbids.
func loaded(text string) *gql.Schema {
	parsed := must(gqlparse.ParseSchemas(validator.Prelude, &gql.Source{Input: text}))
	for _, definition := range parsed.Definitions {
		seen := map[string]bool{}
		definition.Fields = slices.DeleteFunc(definition.Fields, func(f *gql.FieldDefinition) bool {
			again := seen[f.Name]
			seen[f.Name] = true
			return again
		})
	}
	return must(validator.ValidateSchemaDocument(parsed))
}

func mark(schema *gql.Schema, used map[string]map[string]bool, set gql.SelectionSet) {
	for _, selection := range set {
		field := selection.(*gql.Field)
		owner := field.ObjectDefinition.Name
		if used[owner] == nil {
			used[owner] = map[string]bool{}
		}
		used[owner][field.Name] = true
		if result := field.Definition.Type.Name(); used[result] == nil {
			used[result] = map[string]bool{}
		}
		for _, argument := range field.Definition.Arguments {
			markInput(schema, used, argument.Type.Name())
		}
		mark(schema, used, field.SelectionSet)
	}
}

func markInput(schema *gql.Schema, used map[string]map[string]bool, name string) {
	if used[name] != nil {
		return
	}
	used[name] = map[string]bool{}
	for _, field := range schema.Types[name].Fields {
		markInput(schema, used, field.Type.Name())
	}
}

// documents are the constants of the driver that hold queries and mutations.
func documents(file string) (found []string) {
	ast.Inspect(must(parser.ParseFile(token.NewFileSet(), file, nil, 0)), func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text := must(strconv.Unquote(literal.Value))
			if strings.HasPrefix(text, "query") && strings.Contains(text, "{") || strings.HasPrefix(text, "mutation") {
				found = append(found, text)
			}
		}
		return true
	})
	return found
}

// webhooks keeps the examples of the events that concern us, and of some that do not.
func webhooks(name string) []byte {
	events := []string{"check_run", "check_suite", "issue_comment", "issues", "pull_request", "pull_request_review", "pull_request_review_comment",
		"pull_request_review_thread", "status", "push", "ping", "star", "discussion_comment"}
	var kept []any
	for _, event := range read(name).([]any) {
		if slices.Contains(events, event.(object)["name"].(string)) {
			kept = append(kept, object{"name": event.(object)["name"], "examples": event.(object)["examples"]})
		}
	}
	return must(json.Marshal(kept))
}
