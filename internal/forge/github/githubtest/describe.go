package githubtest

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

//go:generate go run trim.go DIR/node_modules/@octokit

//go:embed testdata/openapi.json.gz
var packed []byte

// description is GitHub's published OpenAPI description, cut down to what the driver calls.
var description = sync.OnceValues(func() (*openapi3.T, error) {
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, err
	}
	return openapi3.NewLoader().LoadFromData(text)
})

// exceptions are all that the description doesn't allow and GitHub does.
var exceptions = []struct {
	// operation is one, or empty for all. text is a part of what the validation says.
	operation, text, reason string
}{
	{"", "status 401", "every operation refuses unknown tokens; the description says so of few"},
	{"", "status 403", "every operation refuses who asks too often"},
	{"", "status 404", "every operation answers 404 for a repository that the account may not see"},
}

// described is one request and its operation.
type described struct {
	t         testing.TB
	operation *openapi3.Operation
	input     *openapi3filter.RequestValidationInput
	body      []byte
	name      string
}

func describe(t testing.TB, path string, r *http.Request, body []byte) described {
	document, err := description()
	if err != nil {
		t.Fatalf("read GitHub's description: %v", err)
	}
	d := described{t: t, body: body, name: r.Method + " " + path}
	item := document.Paths.Value(path)
	if item == nil || item.GetOperation(r.Method) == nil {
		t.Errorf("the description has no %s", d.name)
		return d
	}
	d.operation = item.GetOperation(r.Method)
	values := map[string]string{}
	for _, part := range strings.Split(path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			values[name] = r.PathValue(name)
		}
	}
	copied := r.Clone(r.Context())
	copied.Body = io.NopCloser(bytes.NewReader(body))
	d.input = &openapi3filter.RequestValidationInput{
		Request: copied, PathParams: values,
		Route:   &routers.Route{Spec: document, Path: path, PathItem: item, Method: r.Method, Operation: d.operation},
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true, IncludeResponseStatus: true},
	}
	d.input.Options.WithCustomSchemaErrorFunc(func(e *openapi3.SchemaError) string {
		return fmt.Sprintf("at /%s: %s", strings.Join(e.JSONPointer(), "/"), e.Reason)
	})
	return d
}

// request holds the request against the description. Whatever the description doesn't name is an error too: GitHub ignores it.
func (d described) request() {
	if d.operation == nil {
		return
	}
	if err := openapi3filter.ValidateRequest(d.input.Request.Context(), d.input); err != nil {
		d.problem("the request: %v", err)
	}
	for name := range d.input.GetQueryParams() {
		if d.operation.Parameters.GetByInAndName("query", name) == nil {
			d.problem("the request: there is no parameter %s", name)
		}
	}
	if d.operation.RequestBody == nil {
		if len(d.body) > 0 {
			d.problem("the request has a body")
		}
		return
	}
	if schema := d.operation.RequestBody.Value.Content["application/json"].Schema.Value; len(schema.OneOf) == 0 {
		d.names(schema)
	}
}

func (d described) names(schema *openapi3.Schema) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(d.body, &fields) != nil {
		return // the validation has said so
	}
	for name := range fields {
		if schema.Properties[name] == nil {
			d.problem("the request: there is no field %s", name)
		}
	}
}

// response holds the stand-in's own answer against the description.
func (d described) response(answer *httptest.ResponseRecorder) {
	if d.operation == nil {
		return
	}
	err := openapi3filter.ValidateResponse(d.input.Request.Context(), (&openapi3filter.ResponseValidationInput{
		RequestValidationInput: d.input, Status: answer.Code, Header: answer.Header(), Options: d.input.Options,
	}).SetBodyBytes(answer.Body.Bytes()))
	if err != nil {
		d.problem("the stand-in's answer: status %d: %v", answer.Code, err)
	}
}

func (d described) problem(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, e := range exceptions {
		if (e.operation == "" || e.operation == d.name) && strings.Contains(text, e.text) {
			return
		}
	}
	d.t.Errorf("%s: %s", d.name, text)
}

// example returns a copy of the published example of an operation's answer.
func (c *call) example(status int) any {
	document, err := description()
	if err != nil {
		c.t.Fatal(err)
	}
	content := document.Paths.Value(c.path).GetOperation(c.r.Method).Responses.Status(status).Value.Content["application/json"]
	var names []string
	for name := range content.Examples {
		names = append(names, name)
	}
	return copied(content.Examples[slices.Min(names)].Value.Value)
}

// published returns a copy of an example by its name.
func (c *call) published(name string) any {
	document, err := description()
	if err != nil {
		c.t.Fatal(err)
	}
	return copied(document.Components.Examples[name].Value.Value)
}

// element is the first one of an example that is a list.
func (c *call) element(status int) object { return c.example(status).([]any)[0].(object) }

// object is a JSON object.
type object = map[string]any

func copied(value any) any {
	switch value := value.(type) {
	case object:
		made := object{}
		for name, inner := range value {
			made[name] = copied(inner)
		}
		return made
	case []any:
		made := make([]any, len(value))
		for i, inner := range value {
			made[i] = copied(inner)
		}
		return made
	}
	return value
}

// with overwrites fields, those of objects within one by one.
func with(base object, changes object) object {
	for name, change := range changes {
		inner, isObject := change.(object)
		before, wasObject := base[name].(object)
		if isObject && wasObject {
			with(before, inner)
			continue
		}
		base[name] = change
	}
	return base
}
