package githubtest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"
)

//go:embed testdata/schema.graphql
var schemaText string

// schema is GitHub's published GraphQL schema, cut down to what the driver selects.
var schema = sync.OnceValues(func() (*ast.Schema, error) {
	return gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: schemaText})
})

// field computes a field that has arguments.
type field func(arguments map[string]any) (any, *graphQLError)

type graphQLError struct {
	Type    string `json:"type,omitempty"`
	Message string `json:"message"`
}

func (s *Server) serveGraphQL(w http.ResponseWriter, r *http.Request) {
	c := &call{Server: s, st: &s.state, r: r, path: "/graphql", header: http.Header{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pushed()
	if c.account = s.state.account(bearer(r)); c.admitted() {
		c.query()
	} else if c.status == http.StatusForbidden {
		c.send(200, object{"errors": []graphQLError{{"RATE_LIMITED", "API rate limit exceeded for user ID 1."}}})
	}
	c.write(w)
}

// query holds the document and its variables against the schema, and performs it.
func (c *call) query() {
	var asked struct {
		Query     string
		Variables map[string]any
	}
	decoder := json.NewDecoder(c.r.Body)
	if err := decoder.Decode(&asked); err != nil {
		c.t.Errorf("GraphQL: %v", err)
	}
	types, err := schema()
	if err != nil {
		c.t.Fatalf("read GitHub's schema: %v", err)
	}
	document, problems := gqlparser.LoadQuery(types, asked.Query)
	if problems != nil {
		c.t.Errorf("GraphQL: %v in %s", problems, asked.Query)
		return
	}
	operation := document.Operations[0]
	variables, err := validator.VariableValues(types, operation, asked.Variables)
	if err != nil {
		c.t.Errorf("GraphQL: %v in %s", err, asked.Query)
		return
	}
	root := object{"viewer": object{"login": c.account}, "repository": field(c.queryRepository)}
	if operation.Operation == ast.Mutation {
		root = c.mutations()
	}
	data, failed := c.selected(types, operation.SelectionSet, root, variables)
	if failed != nil {
		c.send(200, object{"data": nil, "errors": []*graphQLError{failed}})
		return
	}
	c.send(200, object{"data": data})
}

// selected returns what a selection asks for of a value, and holds it against the schema's types.
func (c *call) selected(types *ast.Schema, set ast.SelectionSet, of object, variables map[string]any) (object, *graphQLError) {
	made := object{}
	for _, selection := range set {
		f := selection.(*ast.Field)
		value, ok := of[f.Name]
		if compute, computed := value.(field); computed {
			var failed *graphQLError
			if value, failed = compute(f.ArgumentMap(variables)); failed != nil {
				return nil, failed
			}
		}
		if !ok || value == nil && f.Definition.Type.NonNull {
			c.t.Errorf("GraphQL: the stand-in has no %s.%s", f.ObjectDefinition.Name, f.Name)
		}
		var failed *graphQLError
		if made[f.Alias], failed = c.typed(types, f, value, variables); failed != nil {
			return nil, failed
		}
	}
	return made, nil
}

func (c *call) typed(types *ast.Schema, f *ast.Field, value any, variables map[string]any) (any, *graphQLError) {
	switch value := value.(type) {
	case nil:
		return nil, nil
	case object:
		return c.selected(types, f.SelectionSet, value, variables)
	case []any:
		made := []any{}
		for _, inner := range value {
			one, failed := c.typed(types, f, inner, variables)
			if failed != nil {
				return nil, failed
			}
			made = append(made, one)
		}
		return made, nil
	}
	c.scalar(types.Types[f.Definition.Type.Name()], f, value)
	return value, nil
}

// scalar checks a value against its type.
func (c *call) scalar(definition *ast.Definition, f *ast.Field, value any) {
	ok := true
	switch text, isText := value.(string); {
	case definition.Kind == ast.Enum:
		ok = isText && definition.EnumValues.ForName(text) != nil
	case definition.Name == "Boolean":
		_, ok = value.(bool)
	case definition.Name == "Int":
		_, ok = value.(int)
	default: // ID, String, and GitHub's own: all are written as text
		ok = isText
	}
	if !ok {
		c.t.Errorf("GraphQL: the stand-in's %s is %v, and should be %s", f.Name, value, definition.Name)
	}
}

func notFound(what string) *graphQLError {
	return &graphQLError{"NOT_FOUND", "Could not resolve to a " + what}
}

func (c *call) queryRepository(arguments map[string]any) (any, *graphQLError) {
	if arguments["owner"] != Owner || arguments["name"] != Name {
		return nil, notFound("Repository")
	}
	forks := field(func(map[string]any) (any, *graphQLError) {
		nodes := []any{}
		if fork := c.st.Forks[c.account]; fork != nil {
			nodes = append(nodes, object{"nameWithOwner": c.account + "/" + fork.Name})
		}
		return object{"nodes": nodes}, nil
	})
	return object{"forks": forks, "issue": field(func(arguments map[string]any) (any, *graphQLError) {
		number, _ := strconv.Atoi(fmt.Sprint(arguments["number"]))
		i := c.st.Issues[number]
		switch {
		case i == nil || i.Gone:
			return nil, notFound(fmt.Sprintf("Issue with the number of %d.", number))
		case i.Edited == nil:
			return object{"lastEditedAt": nil}, nil
		}
		return object{"lastEditedAt": stamp(*i.Edited)}, nil
	}), "pullRequest": field(func(arguments map[string]any) (any, *graphQLError) {
		number, _ := strconv.Atoi(fmt.Sprint(arguments["number"]))
		p := c.st.Pulls[number]
		if p == nil {
			return nil, notFound(fmt.Sprintf("PullRequest with the number of %d.", number))
		}
		return c.pullNode(number, p), nil
	})}, nil
}

func (c *call) pullNode(number int, p *Pull) object {
	state := map[bool]string{false: "OPEN", true: "CLOSED"}[p.Closed]
	if p.Merged != nil {
		state = "MERGED"
	}
	node := object{"id": fmt.Sprintf("PR_%d", number), "state": state, "headRefOid": c.headOf(p), "isDraft": p.Draft, "mergeQueueEntry": nil}
	if p.Queued != "" {
		node["mergeQueueEntry"] = object{"id": "MQE_1"}
	}
	node["reviewThreads"] = field(func(arguments map[string]any) (any, *graphQLError) {
		first, _ := strconv.Atoi(fmt.Sprint(arguments["first"]))
		after, _ := strconv.Atoi(fmt.Sprint(arguments["after"]))
		end := min(after+first, len(p.Threads))
		var nodes []any
		for _, t := range p.Threads[after:end] {
			nodes = append(nodes, c.threadNode(number, t))
		}
		return object{"nodes": append([]any{}, nodes...), "pageInfo": object{"hasNextPage": end < len(p.Threads), "endCursor": strconv.Itoa(end)}}, nil
	})
	return node
}

func (c *call) threadNode(number int, t *Thread) object {
	var nodes []any
	for _, one := range t.Comments {
		node := object{
			"fullDatabaseId": strconv.FormatInt(one.ID, 10), "id": fmt.Sprintf("PRRC_%d", one.ID), "body": one.Body, "createdAt": stamp(one.At),
			"lastEditedAt": nil, "author": nil, "authorAssociation": c.association(one.Author), "url": c.page("/pull/%d#discussion_r%d", number, one.ID),
		}
		if one.Edited != nil {
			node["lastEditedAt"] = stamp(*one.Edited)
		}
		if one.Author != "" {
			login, bot := strings.CutSuffix(one.Author, "[bot]")
			node["author"] = object{"__typename": map[bool]string{false: "User", true: "Bot"}[bot], "login": login}
		}
		nodes = append(nodes, node)
	}
	made := object{"id": t.ID, "path": t.Path, "line": nil, "isResolved": t.Resolved, "isOutdated": t.Outdated}
	if t.Line > 0 {
		made["line"] = t.Line
	}
	made["comments"] = field(func(map[string]any) (any, *graphQLError) { return object{"nodes": append([]any{}, nodes...)}, nil })
	return made
}
