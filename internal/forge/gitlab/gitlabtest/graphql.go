package gitlabtest

import (
	_ "embed"
	"fmt"
	"net/http"
	"strconv"

	"signalbox/internal/forge/standin"
)

//go:embed testdata/schema.graphql
var schemaText string

var schema = standin.Schema(schemaText)

func (s *Server) serveGraphQL(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &call{Server: s, st: &s.state, r: r, header: http.Header{}}
	if c.admitted("/graphql") {
		c.send(http.StatusOK, schema.Answer(c.t, r.Body, object{"namespace": standin.Field(c.namespace)}, nil))
	}
	c.write(w)
}

func (c *call) namespace(of map[string]any) (any, *standin.GraphQLError) {
	if of["fullPath"] != Path || c.st.Levels[c.account] == 0 {
		return nil, nil
	}
	return object{"workItem": standin.Field(func(of map[string]any) (any, *standin.GraphQLError) {
		number, _ := strconv.Atoi(fmt.Sprint(of["iid"]))
		if c.st.Issues[number] == nil {
			return nil, nil
		}
		return c.workItem(number), nil
	})}, nil
}

// workItem is an issue as GraphQL has it. One that moved is in another project.
func (c *call) workItem(number int) object {
	i := c.st.Issues[number]
	path := Path
	if i.MovedTo != 0 {
		path = "octo/other"
	}
	return object{"iid": strconv.Itoa(number), "title": i.Title, "state": map[bool]string{false: "OPEN", true: "CLOSED"}[i.Closed],
		"webUrl": fmt.Sprintf("%s/%s/-/issues/%d", c.URL, path, number), "namespace": object{"fullPath": path},
		"features": standin.Field(func(map[string]any) (any, *standin.GraphQLError) {
			var parent any
			for other, o := range c.st.Issues {
				for _, part := range o.Parts {
					if part == number {
						parent = c.workItem(other)
					}
				}
			}
			return object{"hierarchy": object{"parent": parent, "children": standin.Field(func(of map[string]any) (any, *standin.GraphQLError) {
				first, _ := strconv.Atoi(fmt.Sprint(of["first"]))
				nodes := []any{}
				for _, part := range i.Parts[:min(first, len(i.Parts))] {
					nodes = append(nodes, c.workItem(part))
				}
				return object{"nodes": nodes, "pageInfo": object{"hasNextPage": len(i.Parts) > first}}, nil
			})}}, nil
		})}
}
