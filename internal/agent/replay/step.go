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

var actions = map[string]func(*yaml.Node) (action, error){
	"print":  as(func(text string) (action, error) { return printing(text + "\n"), nil }),
	"answer": readAnswer,
	"patch":  as(newPatch),
	"write":  as(func(files map[string]string) (action, error) { return writing(files), nil }),
	"delete": readDelete,
	"delay":  as(newDelay),
	"run":    as(newCommand),
	"exit":   as(newExit),
	"crash":  as(newCrash),
	"hang":   as(newHang),
	"flood":  as(newFlood),
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

func readDelete(node *yaml.Node) (action, error) {
	if node.Kind == yaml.ScalarNode {
		return deleting{node.Value}, nil
	}
	return as(func(paths []string) (action, error) { return deleting(paths), nil })(node)
}

func newPatch(diff string) (action, error) {
	if strings.TrimSpace(diff) == "" {
		return nil, errors.New("it is empty")
	}
	return patching(diff), nil
}

func newDelay(text string) (action, error) {
	delay, err := time.ParseDuration(text)
	return delaying(delay), err
}

func newCommand(args []string) (action, error) {
	if len(args) == 0 {
		return nil, errors.New("it needs a program")
	}
	return running(args), nil
}

func newExit(code int) (action, error) {
	if code < 0 || code > 255 {
		return nil, fmt.Errorf("%d is outside 0 to 255", code)
	}
	return exiting(code), nil
}

// Signals by which a Go program really ends; for the others its runtime prints
// a trace and exits with a code instead.
var signals = map[string]syscall.Signal{
	"SIGKILL": syscall.SIGKILL, "SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT, "SIGHUP": syscall.SIGHUP,
}

func newCrash(name string) (action, error) {
	signal, known := signals[name]
	if !known {
		return nil, fmt.Errorf("%q is not SIGKILL, SIGTERM, SIGINT or SIGHUP", name)
	}
	return crashing(signal), nil
}

func newHang(yes bool) (action, error) {
	if !yes {
		return nil, errors.New("it can only be true")
	}
	return hanging{}, nil
}

func newFlood(size int64) (action, error) {
	if size < 0 {
		return nil, fmt.Errorf("%d bytes are less than none", size)
	}
	return flooding(size), nil
}
