package schema_test

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/health"
	"signalbox/internal/registry"
	"signalbox/internal/schema"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

var update = flag.Bool("update", false, "write ../../schemas anew")

var documents = map[store.Kind]reflect.Type{
	store.KindStage: reflect.TypeFor[workflow.Run](), store.KindPlanning: reflect.TypeFor[workflow.Plan](),
	store.KindErrors: reflect.TypeFor[workflow.Error](), store.KindEvents: reflect.TypeFor[store.Transition](),
	store.KindEnvironments: reflect.TypeFor[registry.Environments](), store.KindStatus: reflect.TypeFor[registry.IssueStatus](),
	store.KindState: reflect.TypeFor[health.State](),
}

func TestSchemasAreThoseOfTheTypes(t *testing.T) {
	t.Parallel()
	said := readWords(t, "../workflow", "../health", "../registry", "../store")
	for _, kind := range store.Kinds {
		g := generator{said, map[string]*node{}}
		root := g.object(documents[kind])
		root.Schema, root.Title, root.Defs = "https://json-schema.org/draft/2020-12/schema", string(kind), g.defs
		want, err := json.Marshal(root, json.Deterministic(true), jsontext.WithIndent("  "))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, '\n')
		if *update {
			if err := os.WriteFile(filepath.Join("../../schemas", string(kind)+".json"), want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := schema.Text(string(kind)); err != nil || string(got) != string(want) {
			t.Errorf("schemas/%s.json is stale: go test ./internal/schema -update (%v)", kind, err)
		}
	}
	if names := schema.Names(); !*update && len(names) != len(store.Kinds) {
		t.Errorf("%d schemas for %d kinds: %v", len(names), len(store.Kinds), names)
	}
}

// node is a schema, in the order in which people read one.
type node struct {
	Schema      string           `json:"$schema,omitempty"`
	Title       string           `json:"title,omitempty"`
	Ref         string           `json:"$ref,omitempty"`
	Description string           `json:"description,omitempty"`
	Type        any              `json:"type,omitempty"`
	Const       string           `json:"const,omitempty"`
	Enum        []string         `json:"enum,omitempty"`
	Pattern     string           `json:"pattern,omitempty"`
	Format      string           `json:"format,omitempty"`
	Minimum     *int             `json:"minimum,omitempty"`
	Maximum     *int             `json:"maximum,omitempty"`
	MinLength   int              `json:"minLength,omitzero"`
	MinItems    int              `json:"minItems,omitzero"`
	AnyOf       []*node          `json:"anyOf,omitempty"`
	Required    []string         `json:"required,omitempty"`
	Properties  properties       `json:"properties,omitempty"`
	Items       *node            `json:"items,omitempty"`
	Defs        map[string]*node `json:"$defs,omitempty"`
}

// properties keep the order of the type.
type properties []property

type property struct {
	name string
	node *node
}

func (p properties) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, property := range p {
		if err := json.MarshalEncode(enc, property.name); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, property.node); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

type generator struct {
	words
	defs map[string]*node
}

func (g generator) object(t reflect.Type) *node {
	n := &node{Type: "object", Description: g.comments[typeName(t)]}
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		value := g.value(field.Type)
		if comment := g.comments[typeName(t)+"."+field.Name]; comment != "" {
			value.Description = strings.TrimSpace(comment + " " + value.Description)
		}
		if narrow := narrowed[typeName(t)+"."+name]; narrow != nil {
			narrow(value)
		}
		n.Properties = append(n.Properties, property{name, value})
		if !strings.Contains(options, "omit") && !optional(t, name) {
			n.Required = append(n.Required, name)
		}
	}
	return n
}

// optional keys are those that the published format lacks, and those that a planner may leave out.
func optional(t reflect.Type, name string) bool {
	switch t {
	case reflect.TypeFor[workflow.Details](), reflect.TypeFor[workflow.Settings](), reflect.TypeFor[workflow.Limits](), reflect.TypeFor[workflow.Used]():
		return true
	case reflect.TypeFor[workflow.PlanSetUp](), reflect.TypeFor[workflow.PlannedStep]():
		return name == "name" || name == "role"
	}
	return strings.HasPrefix(name, "signalbox")
}

func (g generator) value(t reflect.Type) *node {
	if t.Kind() == reflect.Pointer {
		n := g.value(t.Elem())
		at := n
		if n.Ref != "" {
			at = g.defs[typeName(t.Elem())]
		}
		if word, ok := at.Type.(string); ok {
			at.Type = []string{word, "null"}
		}
		return n
	}
	if t == reflect.TypeFor[time.Time]() {
		return &node{Type: "string", Format: "date-time"}
	}
	switch t.Kind() {
	case reflect.Struct:
		if _, ok := g.defs[typeName(t)]; !ok {
			g.defs[typeName(t)] = nil // against recursion
			g.defs[typeName(t)] = g.object(t)
		}
		return &node{Ref: "#/$defs/" + typeName(t)}
	case reflect.Slice:
		return &node{Type: "array", Items: g.value(t.Elem())}
	case reflect.Map:
		return &node{Type: "object"}
	case reflect.Bool:
		return &node{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		n := &node{Type: "integer", Minimum: new(int)}
		if t == reflect.TypeFor[workflow.Phase]() {
			last := int(workflow.LastPhase)
			n.Maximum = &last
		}
		return n
	case reflect.String:
		return g.text(t)
	}
	panic(fmt.Sprintf("no schema for %s", t))
}

func (g generator) text(t reflect.Type) *node {
	n := &node{Type: "string"}
	if t == reflect.TypeFor[workflow.StepName]() {
		for _, row := range workflow.Positions {
			n.Enum = append(n.Enum, string(row.Step))
		}
		return n
	}
	var meanings []string
	for _, v := range g.values[typeName(t)] {
		if v.name == "IssueUnknown" { // what is said of no file is never in one
			continue
		}
		n.Enum = append(n.Enum, v.text)
		if v.comment != "" {
			meanings = append(meanings, v.text+": "+v.comment)
		}
	}
	n.Description = strings.Join(meanings, " | ")
	return n
}

func pattern(p string) func(*node) { return func(n *node) { n.Pattern = p } }
func open(n *node)                 { n.Enum, n.Maximum, n.Description = nil, nil, "" }
func emptyOrTime(n *node) {
	n.AnyOf, n.Type = []*node{{Type: "string", Pattern: "^$"}, {Type: "string", Format: "date-time"}}, nil
}

// narrowed is what the specification says beyond the type.
var narrowed = map[string]func(*node){
	"Run.version":          func(n *node) { n.Const = workflow.RunVersion },
	"Run.request_id":       pattern(`^[A-Z0-9][A-Za-z0-9._-]{0,63}$`),
	"Run.run_id":           pattern(`^[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$`),
	"Progress.percent":     func(n *node) { hundred := 100; n.Maximum = &hundred },
	"Step.step_id":         pattern(`^S[0-9]{2,}$`),
	"PlannedStep.step_id":  pattern(`^S[0-9]{2,}$`),
	"Step.attempt":         func(n *node) { one := 1; n.Minimum = &one },
	"Error.reason_code":    func(n *node) { n.MinLength = 1 },
	"Error.actions":        func(n *node) { n.MinItems = 1 },
	"Transition.event":     func(n *node) { n.MinLength = 1 },
	"Environment.env_id":   func(n *node) { n.MinLength = 1 },
	"IssueStatus.issue":    func(n *node) { one := 1; n.Minimum = &one },
	"SetUp.overall_status": func(n *node) { n.Enum = []string{"", workflow.SetUpSucceeded, workflow.SetUpFailed} },
	"Settings.workflow": func(n *node) {
		n.Enum = []string{workflow.WorkflowFull, workflow.WorkflowSimple, workflow.WorkflowCustom}
	},
	"HealthState.last_attempt_at": emptyOrTime,
	"HealthState.cooldown_until":  emptyOrTime,
	"HealthState.created_at":      emptyOrTime,
	"HealthState.updated_at":      emptyOrTime,
	"Environment.step":            open, // a step that we do not know is somebody else's, and resumed with open_environment
	"Environment.phase":           open,
}

// prefixes keep the types of other packages apart from those of workflow, by the last part of their package's path.
var prefixes = map[string]string{"health": "Health"}

func typeName(t reflect.Type) string { return prefixes[path.Base(t.PkgPath())] + t.Name() }

func TestEveryNarrowedKeyIsThere(t *testing.T) {
	t.Parallel()
	var types []reflect.Type
	for _, document := range documents {
		types = reachable(types, document)
	}
	for key := range narrowed {
		owner, name, _ := strings.Cut(key, ".")
		if !slices.ContainsFunc(types, func(t reflect.Type) bool {
			if typeName(t) != owner {
				return false
			}
			for field := range t.Fields() {
				if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag == name {
					return true
				}
			}
			return false
		}) {
			t.Errorf("%s is narrowed and does not exist", key)
		}
	}
}

// reachable adds every struct of ours that t holds.
func reachable(found []reflect.Type, t reflect.Type) []reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() || slices.Contains(found, t) {
		return found
	}
	found = append(found, t)
	for field := range t.Fields() {
		found = reachable(found, field.Type)
	}
	return found
}

// Another program's keys survive on every level, or the promise is for none.
func TestEveryDocumentedObjectKeepsForeignKeys(t *testing.T) {
	t.Parallel()
	for kind, document := range documents {
		if kind == store.KindEvents {
			continue // a line is written once and never again
		}
		for _, typ := range reachable(nil, document) {
			if field, ok := typ.FieldByName("Unknown"); !ok || field.Tag.Get("json") != ",embed" {
				t.Errorf("%s of %s.json has nowhere to keep them", typ, kind)
			}
		}
	}
}
