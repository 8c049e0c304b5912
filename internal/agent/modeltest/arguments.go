package modeltest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The names that agents give to arguments of one meaning.
var (
	pathArguments    = []string{"file_path", "filePath", "path", "absolute_path", "filename"}
	contentArguments = []string{"content", "contents", "new_text", "text"}
	commandArguments = []string{"command", "cmd", "commands"}
)

// fill makes the arguments of a tool with this schema, as JSON.
func (c Call) fill(s Schema) (string, error) {
	type meaning struct {
		names []string
		value string
	}
	meanings := map[verb][]meaning{
		write: {{pathArguments, c.target}, {contentArguments, c.content}},
		read:  {{pathArguments, c.target}},
		run:   {{commandArguments, c.target}},
	}
	values := map[string]any{}
	for _, m := range meanings[c.verb] {
		i := slices.IndexFunc(m.names, s.has)
		if i < 0 {
			return "", fmt.Errorf("none of its arguments is called one of %q", m.names)
		}
		values[m.names[i]] = m.value
		if s.Properties[m.names[i]].Type == "array" { // some tools take a command as a list of words
			values[m.names[i]] = []string{"bash", "-c", m.value}
		}
	}
	return s.completed(values)
}

func (s Schema) has(name string) bool { _, ok := s.Properties[name]; return ok }

// completed is complete as JSON.
func (s Schema) completed(values map[string]any) (string, error) {
	// Add the other arguments that the tool requires, such as descriptions and switches. Any value will do.
	for _, name := range s.Required {
		if _, set := values[name]; set {
			continue
		}
		property := s.Properties[name]
		kind, _ := property.Type.(string)
		kind = strings.ToLower(kind) // some of Google's are in capitals
		switch {
		case len(property.Enum) > 0:
			values[name] = property.Enum[0]
		case kind == "string":
			values[name] = "as scripted"
		case kind == "boolean":
			values[name] = false
		case kind == "number" || kind == "integer":
			values[name] = 1
		default:
			return "", fmt.Errorf("it requires %q of type %v", name, property.Type)
		}
	}
	text, err := json.Marshal(values)
	return string(text), err
}
