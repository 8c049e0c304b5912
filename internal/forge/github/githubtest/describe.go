package githubtest

import (
	_ "embed"
	"slices"

	"signalbox/internal/forge/standin"
)

//go:generate go run trim.go DIR/node_modules/@octokit

//go:embed testdata/openapi.json.gz
var packed []byte

// description is GitHub's published OpenAPI description, cut down to what the driver calls. Beside it is all that it doesn't allow and GitHub does.
var description = standin.Describe(packed, []standin.Exception{
	{Text: "status 401", Reason: "every operation refuses unknown tokens; the description says so of few"},
	{Text: "status 403", Reason: "every operation refuses who asks too often"},
	{Text: "at /head/repo: Value is not nullable", Reason: "the fork of a pull request may be deleted"},
	{Text: "status 404", Reason: "every operation answers 404 for a repository that the account may not see"},
})

// example returns a copy of the published example of an operation's answer.
func (c *call) example(status int) any {
	document, err := description.Document()
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
	document, err := description.Document()
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
