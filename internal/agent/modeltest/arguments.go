package modeltest

import (
	"encoding/json"
	"fmt"
	"slices"
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
		values[m.names[i]] = s.shaped(m.names[i], m.value)
	}
	if err := s.complete(values); err != nil {
		return "", err
	}
	text, err := json.Marshal(values)
	return string(text), err
}

func (s Schema) has(name string) bool { _, ok := s.Properties[name]; return ok }

// shaped is the value as the list of words that some tools take a command as.
func (s Schema) shaped(name, value string) any {
	if s.Properties[name].Type == "array" {
		return []string{"bash", "-c", value}
	}
	return value
}

// complete adds what else the tool requires: descriptions and switches, of which any will do.
func (s Schema) complete(values map[string]any) error {
	for _, name := range s.Required {
		if _, set := values[name]; set {
			continue
		}
		property := s.Properties[name]
		switch {
		case len(property.Enum) > 0:
			values[name] = property.Enum[0]
		case property.Type == "string":
			values[name] = "as scripted"
		case property.Type == "boolean":
			values[name] = false
		case property.Type == "number" || property.Type == "integer":
			values[name] = 1
		default:
			return fmt.Errorf("it requires %q of type %v", name, property.Type)
		}
	}
	return nil
}
