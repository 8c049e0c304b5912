package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"go.yaml.in/yaml/v3"
)

// step is one element of "do": a mapping of one key to what the action needs.
type step struct {
	action action
	// line is the step's line in the script.
	line int
	name string
}

// UnmarshalYAML implements yaml.Unmarshaler. Errors name the line of the script.
func (s *step) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode || len(node.Content) != 2 {
		return fmt.Errorf("line %d: an action is one key with its value", node.Line)
	}
	key, value := node.Content[0], node.Content[1]
	if value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	read, known := actions[key.Value]
	if !known {
		return fmt.Errorf("line %d: there is no action %q", key.Line, key.Value)
	}
	action, err := read(value)
	if err != nil {
		return fmt.Errorf("line %d: read %s: %w", key.Line, key.Value, err)
	}
	*s = step{action: action, line: key.Line, name: key.Value}
	return nil
}

// actions parse the value of each key.
var actions = map[string]func(*yaml.Node) (action, error){
	"print":  as(func(text string) (action, error) { return printing(text + "\n"), nil }),
	"answer": readAnswer,
	"patch": as(func(diff string) (action, error) {
		return patching(diff), want(strings.TrimSpace(diff) != "", "it is empty")
	}),
	"write":  as(func(files map[string]string) (action, error) { return writing(files), nil }),
	"delete": readDelete,
	"delay": as(func(text string) (action, error) {
		delay, err := time.ParseDuration(text)
		return delaying(delay), err
	}),
	"run": as(func(args []string) (action, error) {
		return running(args), want(len(args) > 0, "it needs a program")
	}),
	"exit": as(func(code int) (action, error) {
		return exiting(code), want(0 <= code && code <= 255, "%d is outside 0 to 255", code)
	}),
	"crash": as(func(name string) (action, error) {
		signal, known := signals[name]
		return crashing(signal), want(known, "%q is not SIGKILL, SIGTERM, SIGINT or SIGHUP", name)
	}),
	"hang": as(func(yes bool) (action, error) { return hanging{}, want(yes, "it can only be true") }),
	"flood": as(func(size int64) (action, error) {
		return flooding(size), want(size >= 0, "%d bytes are less than none", size)
	}),
}

// want returns an error that says what is wrong, unless it holds.
func want(holds bool, wrong string, a ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(wrong, a...)
}

// as reads a node as a T and makes an action of it.
func as[T any](build func(T) (action, error)) func(*yaml.Node) (action, error) {
	return func(node *yaml.Node) (action, error) {
		var value T
		if node.ShortTag() == "!!null" {
			return nil, errors.New("it has no value")
		}
		if err := node.Decode(&value); err != nil {
			return nil, err
		}
		return build(value)
	}
}

// readAnswer makes JSON of everything that is not text, for answers that are documents.
func readAnswer(node *yaml.Node) (action, error) {
	if node.Kind == yaml.ScalarNode {
		return printing(node.Value + "\n"), nil
	}
	var value any
	if err := node.Decode(&value); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("turn it into JSON: %w", err)
	}
	return printing(text.String()), nil
}

// readDelete reads one path or a list of them.
func readDelete(node *yaml.Node) (action, error) {
	if node.Kind == yaml.ScalarNode {
		return deleting{node.Value}, nil
	}
	return as(func(paths []string) (action, error) { return deleting(paths), nil })(node)
}

// Signals by which a Go program really ends; for the others its runtime prints
// a trace and exits with a code instead.
var signals = map[string]syscall.Signal{
	"SIGKILL": syscall.SIGKILL, "SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT, "SIGHUP": syscall.SIGHUP,
}
