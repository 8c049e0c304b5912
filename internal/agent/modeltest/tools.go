package modeltest

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// call is a Call as one agent's tool takes it.
type call struct {
	id, name string
	// arguments is JSON, or for a tool without a schema the text that it takes.
	arguments string
	plain     bool
	namespace string
}

// names are the agents' names of tools for each verb, the more special ones first.
var names = map[verb][]string{
	write: {"Write", "write", "write_file", "editor", "apply_patch"},
	read:  {"Read", "read", "read_file"},
	run:   {"Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command", "run_command", "execute_command", "run_commands"},
}

// in finds the tool for the call, and translates its arguments.
func (c Call) in(dir string, offers []Offer) (call, error) {
	if c.verb == tool {
		return call{name: c.name, arguments: string(c.arguments)}, nil
	}
	if c.verb != run && !path.IsAbs(c.target) {
		c.target = path.Join(dir, c.target)
	}
	offer, found := pick(names[c.verb], offers)
	if code, only := pick([]string{codeTool}, offers); !found && only {
		// Write the call as a program that prints its result.
		inner, argument := "exec_command", any(object{"cmd": c.target})
		switch c.verb {
		case write:
			inner, argument = "apply_patch", c.patch()
		case read:
			argument = object{"cmd": c.byCommand().target}
		}
		text, _ := json.Marshal(argument) // strings
		return call{name: code.Name, arguments: fmt.Sprintf("text(await tools.%s(%s));", inner, text), plain: true, namespace: code.Namespace}, nil
	}
	if !found && c.verb != run {
		return c.byCommand().in(dir, offers)
	}
	if !found {
		var names []string
		for _, o := range offers {
			names = append(names, o.Name)
		}
		return call{}, fmt.Errorf("%s: no tool for it among %q", c.verb, names)
	}
	if offer.Schema.Properties == nil && c.verb == write {
		return call{name: offer.Name, arguments: c.patch(), plain: true}, nil
	}
	arguments, err := c.fill(offer.Schema)
	if err != nil {
		return call{}, fmt.Errorf("%s with tool %q: %w", c.verb, offer.Name, err)
	}
	return call{name: offer.Name, arguments: arguments}, nil
}

// codeTool takes JavaScript that calls the other tools. Codex offers nothing else to its default model.
const codeTool = "exec"

// pick returns the first of these tools that is offered.
func pick(names []string, offers []Offer) (Offer, bool) {
	for _, name := range names {
		i := slices.IndexFunc(offers, func(o Offer) bool { return o.Name == name })
		if i >= 0 {
			return offers[i], true
		}
	}
	return Offer{}, false
}

// byCommand returns the call as a shell command, for an agent that only has a shell.
func (c Call) byCommand() Call {
	if c.verb == read {
		return Run("cat " + quoted(c.target))
	}
	return Run(fmt.Sprintf("mkdir -p %s && printf %%s %s >%s", quoted(path.Dir(c.target)), quoted(c.content), quoted(c.target)))
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// patch writes the file in the format of OpenAI's apply_patch.
func (c Call) patch() string {
	lines := strings.Split(strings.TrimSuffix(c.content, "\n"), "\n")
	return "*** Begin Patch\n*** Add File: " + c.target + "\n+" + strings.Join(lines, "\n+") + "\n*** End Patch\n"
}

// The names that agents give to arguments of one meaning.
var (
	pathArguments    = []string{"file_path", "filePath", "path", "absolute_path", "filename"}
	contentArguments = []string{"content", "contents", "new_text", "text"}
	commandArguments = []string{"command", "cmd", "commands"}
)

// fill returns the arguments of a tool with this schema, as JSON.
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
		i := slices.IndexFunc(m.names, func(name string) bool { _, ok := s.Properties[name]; return ok })
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

// completed returns values as JSON, with all that the schema requires.
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
