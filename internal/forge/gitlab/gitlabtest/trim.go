//go:build ignore

// Trim makes an OpenAPI description of what the driver calls, and a list of webhooks, from GitLab's own Go client, which GitLab publishes under the Apache License 2.0.
// GitLab's OpenAPI file is in no registry. Get the module and run it in this folder:
//
//	go mod download gitlab.com/gitlab-org/api/client-go/v2@v2.64.0
//	go run trim.go $(go env GOMODCACHE)/gitlab.com/gitlab-org/api/client-go/v2@v2.64.0
//
// Of an operation it has the method, the path, the parameters, and the fields of the body and of the answer with their types. The client doesn't say
// which of them are required, which values a text may have, or which statuses are answered.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

type object = map[string]any

// client is the parsed package.
type client struct {
	types     map[string]ast.Expr
	functions map[string]*ast.FuncDecl
	routes    map[string]string
	schemas   object
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run trim.go DIR")
	}
	c := parse(os.Args[1])
	paths := object{}
	for _, line := range strings.Split(string(must(os.ReadFile("testdata/operations.txt"))), "\n") {
		if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
			c.operation(paths, words)
		}
	}
	document := object{
		"openapi": "3.0.3", "paths": paths, "components": object{"schemas": c.schemas},
		"info": object{"title": "What Signalbox calls of GitLab's API, made by trim.go from GitLab's Go client", "version": filepath.Base(os.Args[1]),
			"license": object{"name": "Apache-2.0", "url": "https://gitlab.com/gitlab-org/api/client-go/-/blob/main/LICENSE"}},
	}
	text := must(json.MarshalIndent(document, "", " "))
	write("testdata/openapi.json.gz", text)
	webhooks := map[string]json.RawMessage{}
	for _, name := range must(filepath.Glob(filepath.Join(os.Args[1], "testdata/webhooks/*.json"))) {
		webhooks[strings.TrimSuffix(filepath.Base(name), ".json")] = must(os.ReadFile(name))
	}
	write("../testdata/webhooks.json.gz", must(json.Marshal(webhooks)))
}

func write(name string, text []byte) {
	var packed bytes.Buffer
	w := must(gzip.NewWriterLevel(&packed, gzip.BestCompression))
	must(w.Write(text))
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(name, packed.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d KB, written %d KB\n", name, len(text)>>10, packed.Len()>>10)
}

func parse(dir string) *client {
	c := &client{types: map[string]ast.Expr{}, functions: map[string]*ast.FuncDecl{}, routes: map[string]string{}, schemas: object{}}
	files := token.NewFileSet()
	packages := must(parser.ParseDir(files, dir, func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, parser.SkipObjectResolution))
	for _, file := range packages["gitlab"].Files {
		for _, declared := range file.Decls {
			switch d := declared.(type) {
			case *ast.FuncDecl:
				c.functions[d.Name.Name] = d
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					c.spec(spec)
				}
			}
		}
	}
	return c
}

func (c *client) spec(spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		c.types[s.Name.Name] = s.Type
	case *ast.ValueSpec:
		for i, value := range s.Values {
			if call, ok := value.(*ast.CallExpr); ok && len(call.Args) == 1 {
				if text, ok := call.Args[0].(*ast.BasicLit); ok && text.Kind == token.STRING {
					c.routes[s.Names[i].Name] = must(strconv.Unquote(text.Value))
				}
			}
		}
	}
}

// operation adds one. words are the function's name, and the method and the path if it has them from elsewhere.
func (c *client) operation(paths object, words []string) {
	f := c.functions[words[0]]
	if f == nil {
		log.Fatalf("the client has no %s", words[0])
	}
	method, route := "GET", ""
	ast.Inspect(f.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch name, _ := call.Fun.(*ast.Ident); {
		case name == nil:
		case name.Name == "withMethod":
			method = strings.ToUpper(strings.TrimPrefix(call.Args[0].(*ast.SelectorExpr).Sel.Name, "Method"))
		case name.Name == "withPath":
			route = c.routes[call.Args[0].(*ast.Ident).Name]
		}
		return true
	})
	if len(words) == 3 {
		method, route = words[1], words[2]
	}
	if route == "" {
		log.Fatalf("%s has no path", words[0])
	}
	path, parameters := template(route)
	made := object{"operationId": words[0], "responses": object{
		"2XX":     object{"description": "done", "content": c.answer(f.Type.Results.List[0].Type)},
		"default": object{"description": "refused", "content": object{"application/json": object{"schema": object{"type": "object"}}}},
	}}
	if options := c.options(f); options != "" && method == "GET" {
		parameters = append(parameters, c.query(c.types[options].(*ast.StructType))...)
	} else if options != "" {
		made["requestBody"] = object{"content": object{"application/json": object{"schema": c.named(options)}}}
	}
	made["parameters"] = parameters
	item, _ := paths[path].(object)
	if item == nil {
		item = object{}
		paths[path] = item
	}
	item[strings.ToLower(method)] = made
}

// template turns projects/%s/issues/%d into a path of OpenAPI.
func template(route string) (path string, parameters []any) {
	parameters = []any{}
	for i, part := range strings.Split(route, "/") {
		kind, verb := map[string]string{"%s": "string", "%d": "integer"}[part], part
		if kind == "" {
			path += "/" + verb
			continue
		}
		name := fmt.Sprintf("p%d", i)
		if i == 1 {
			name = "id"
		}
		path += "/{" + name + "}"
		parameters = append(parameters, object{"in": "path", "name": name, "required": true, "schema": object{"type": kind}})
	}
	return path, parameters
}

// options is the name of the function's type of options; empty if it takes none.
func (c *client) options(f *ast.FuncDecl) string {
	for _, field := range f.Type.Params.List {
		if pointer, ok := field.Type.(*ast.StarExpr); ok {
			return pointer.X.(*ast.Ident).Name
		}
	}
	return ""
}

func (c *client) query(of *ast.StructType) (parameters []any) {
	for _, field := range of.Fields.List {
		if len(field.Names) == 0 {
			parameters = append(parameters, c.query(c.types[field.Type.(*ast.Ident).Name].(*ast.StructType))...)
			continue
		}
		name, how, _ := strings.Cut(tag(field, "url"), ",")
		schema := c.schema(field.Type)
		if strings.Contains(how, "comma") {
			schema = object{"type": "string"}
		}
		if name != "" && name != "-" {
			parameters = append(parameters, object{"in": "query", "name": name, "schema": schema})
		}
	}
	return parameters
}

func tag(field *ast.Field, key string) string {
	if field.Tag == nil {
		return ""
	}
	return reflect.StructTag(must(strconv.Unquote(field.Tag.Value))).Get(key)
}

func (c *client) answer(of ast.Expr) object {
	if pointer, ok := of.(*ast.StarExpr); ok {
		if _, text := pointer.X.(*ast.SelectorExpr); text { // bytes.Reader
			return object{"text/plain": object{"schema": object{"type": "string"}}}
		}
	}
	schema := c.schema(of)
	delete(schema, "nullable")
	return object{"application/json": object{"schema": schema}}
}

// schema is a type's. Everything may be null: for Go that is the same as nothing.
func (c *client) schema(of ast.Expr) object {
	switch t := of.(type) {
	case *ast.StarExpr:
		return c.schema(t.X)
	case *ast.ArrayType:
		return object{"type": "array", "nullable": true, "items": c.schema(t.Elt)}
	case *ast.MapType:
		return object{"type": "object", "nullable": true, "additionalProperties": c.schema(t.Value)}
	case *ast.SelectorExpr:
		if t.Sel.Name == "Time" {
			return object{"type": "string", "format": "date-time", "nullable": true}
		}
	case *ast.Ident:
		return c.basic(t.Name)
	}
	return object{}
}

func (c *client) basic(name string) object {
	switch name {
	case "string":
		return object{"type": "string", "nullable": true}
	case "bool":
		return object{"type": "boolean", "nullable": true}
	case "int", "int64":
		return object{"type": "integer", "nullable": true}
	case "float64":
		return object{"type": "number", "nullable": true}
	case "LabelOptions", "ISOTime": // both write themselves as text
		return object{"type": "string", "nullable": true}
	}
	if _, ok := c.types[name].(*ast.StructType); ok {
		return c.named(name)
	}
	if of := c.types[name]; of != nil {
		return c.schema(of)
	}
	return object{}
}

// named is a reference to a struct's schema, which it makes.
func (c *client) named(name string) object {
	reference := object{"$ref": "#/components/schemas/" + name}
	if c.schemas[name] != nil {
		return reference
	}
	properties := object{}
	c.schemas[name] = object{"type": "object", "nullable": true, "properties": properties, "additionalProperties": false}
	c.fields(c.types[name].(*ast.StructType), properties)
	return reference
}

func (c *client) fields(of *ast.StructType, properties object) {
	for _, field := range of.Fields.List {
		if len(field.Names) == 0 {
			if embedded, ok := field.Type.(*ast.Ident); ok {
				c.fields(c.types[embedded.Name].(*ast.StructType), properties)
			}
			continue
		}
		if name, _, _ := strings.Cut(tag(field, "json"), ","); name != "" && name != "-" {
			properties[name] = c.schema(field.Type)
		}
	}
}
