// Package standin is what stand-ins for servers of forges have in common: a vendor's description that every request and answer is held against,
// a real git repository, and faults. It knows no vendor, and nothing of ours.
package standin

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// Description is an OpenAPI description.
type Description struct {
	// Document returns it.
	Document   func() (*openapi3.T, error)
	exceptions []Exception
}

// Exception is what a description doesn't allow and the server does. Operation is one, such as "GET /user", or empty for all; Text is a part of
// what the validation says.
type Exception struct{ Operation, Text, Reason string }

// Describe reads a description at its first use. It is packed by gzip.
func Describe(packed []byte, exceptions []Exception) *Description {
	return &Description{exceptions: exceptions, Document: sync.OnceValues(func() (*openapi3.T, error) {
		unpacked, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(unpacked)
		if err != nil {
			return nil, err
		}
		return openapi3.NewLoader().LoadFromData(text)
	})}
}

// Serve performs a request, and holds it and its answer against the operation of this path.
func (d *Description) Serve(t testing.TB, w http.ResponseWriter, r *http.Request, path string, perform func(answer http.ResponseWriter, body []byte)) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Errorf("%s %s: %v", r.Method, r.URL, err)
		return
	}
	described := d.call(t, path, r, body)
	described.request()
	answer := httptest.NewRecorder()
	perform(answer, body)
	if answer.Code != http.StatusNotModified {
		described.response(answer)
	}
	send(w, answer)
}

// call is one request and its operation.
type call struct {
	exceptions []Exception
	t          testing.TB
	operation  *openapi3.Operation
	input      *openapi3filter.RequestValidationInput
	body       []byte
	name       string
}

// call finds the operation of a request. Its path is the description's template.
func (d *Description) call(t testing.TB, path string, r *http.Request, body []byte) call {
	document, err := d.Document()
	if err != nil {
		t.Fatalf("read the description: %v", err)
	}
	c := call{t: t, body: body, name: r.Method + " " + path, exceptions: d.exceptions}
	item := document.Paths.Value(path)
	if item == nil || item.GetOperation(r.Method) == nil {
		t.Errorf("the description has no %s", c.name)
		return c
	}
	c.operation = item.GetOperation(r.Method)
	values := map[string]string{}
	for _, part := range strings.Split(path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			values[name] = r.PathValue(name)
		}
	}
	copied := r.Clone(r.Context())
	copied.Body = io.NopCloser(bytes.NewReader(body))
	c.input = &openapi3filter.RequestValidationInput{
		Request: copied, PathParams: values,
		Route:   &routers.Route{Spec: document, Path: path, PathItem: item, Method: r.Method, Operation: c.operation},
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true, IncludeResponseStatus: true},
	}
	c.input.Options.WithCustomSchemaErrorFunc(func(e *openapi3.SchemaError) string {
		return fmt.Sprintf("at /%s: %s", strings.Join(e.JSONPointer(), "/"), e.Reason)
	})
	return c
}

// request holds the request against the description. Whatever the description doesn't name is an error too: servers ignore it.
func (c call) request() {
	if c.operation == nil {
		return
	}
	if err := openapi3filter.ValidateRequest(c.input.Request.Context(), c.input); err != nil {
		c.problem("the request: %v", err)
	}
	for name := range c.input.GetQueryParams() {
		if c.operation.Parameters.GetByInAndName("query", name) == nil {
			c.problem("the request: there is no parameter %s", name)
		}
	}
	if c.operation.RequestBody == nil {
		if len(c.body) > 0 {
			c.problem("the request has a body")
		}
		return
	}
	if schema := c.operation.RequestBody.Value.Content["application/json"].Schema.Value; len(schema.OneOf) == 0 {
		c.names(schema)
	}
}

func (c call) names(schema *openapi3.Schema) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(c.body, &fields) != nil {
		return // the validation has said so
	}
	for name := range fields {
		if schema.Properties[name] == nil {
			c.problem("the request: there is no field %s", name)
		}
	}
}

// response holds the stand-in's own answer against the description.
func (c call) response(answer *httptest.ResponseRecorder) {
	if c.operation == nil {
		return
	}
	err := openapi3filter.ValidateResponse(c.input.Request.Context(), (&openapi3filter.ResponseValidationInput{
		RequestValidationInput: c.input, Status: answer.Code, Header: answer.Header(), Options: c.input.Options,
	}).SetBodyBytes(answer.Body.Bytes()))
	if err != nil {
		c.problem("the stand-in's answer: status %d: %v", answer.Code, err)
	}
}

func (c call) problem(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, e := range c.exceptions {
		if (e.Operation == "" || e.Operation == c.name) && strings.Contains(text, e.Text) {
			return
		}
	}
	c.t.Errorf("%s: %s", c.name, text)
}
