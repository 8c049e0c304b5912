package githubtest

import (
	_ "embed"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"signalbox/internal/forge/standin"
)

//go:embed testdata/schema.graphql
var schemaText string

// schema is GitHub's published GraphQL schema, cut down to what the driver selects.
var schema = standin.Schema(schemaText)

type (
	field        = standin.Field
	graphQLError = standin.GraphQLError
)

func (s *Server) serveGraphQL(w http.ResponseWriter, r *http.Request) {
	c := &call{Server: s, st: &s.state, r: r, path: "/graphql", header: http.Header{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pushed()
	if c.account = s.state.account(bearer(r)); c.admitted() {
		c.send(200, schema.Answer(c.t, c.r.Body, object{"viewer": object{"login": c.account}, "repository": field(c.queryRepository)}, c.mutations()))
	} else if c.status == http.StatusForbidden {
		c.send(200, object{"errors": []graphQLError{{Type: "RATE_LIMITED", Message: "API rate limit exceeded for user ID 1."}}})
	}
	c.write(w)
}

func notFound(what string) *graphQLError {
	return &graphQLError{Type: "NOT_FOUND", Message: "Could not resolve to a " + what}
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
