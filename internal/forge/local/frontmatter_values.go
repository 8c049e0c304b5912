package local

import (
	"errors"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"signalbox/internal/git"
	"signalbox/internal/redact"
)

func line(node *yaml.Node) (string, error) {
	switch {
	case node.Kind != yaml.ScalarNode || node.Tag == "!!null":
		return "", refuse(node.Line, "the value is not a single line of text")
	case len(node.Value) > maxLineBytes:
		return "", refuse(node.Line, "the value is longer than %d bytes", maxLineBytes)
	}
	return strings.TrimSpace(node.Value), nil
}

func auto(node *yaml.Node) (bool, error) {
	if node.Value != "auto" && node.Value != "manual" {
		return false, refuse(node.Line, "run is %q: want auto or manual", node.Value)
	}
	return node.Value == "auto", nil
}

func number(node *yaml.Node) (int, error) {
	if node.Tag != "!!int" || !numberPattern().MatchString(node.Value) {
		return 0, refuse(node.Line, "number %q is not a positive whole number", node.Value)
	}
	return strconv.Atoi(node.Value)
}

func branch(node *yaml.Node) (string, error) {
	name, err := line(node)
	if err != nil {
		return "", err
	}
	if _, err := git.BranchRef(name); err != nil {
		return "", refuse(node.Line, "base %q is not a branch name", name)
	}
	return name, nil
}

func list(node *yaml.Node) ([]string, error) {
	items := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		items = node.Content
	}
	if len(items) > maxListLength {
		return nil, refuse(node.Line, "more than %d entries", maxListLength)
	}
	var values []string
	for _, item := range items {
		value, err := line(item)
		if err != nil {
			return nil, err
		}
		if value == "" || strings.ContainsFunc(value, unicode.IsControl) {
			return nil, refuse(item.Line, "entry %q is empty or holds control characters", value)
		}
		values = append(values, value)
	}
	return values, nil
}

// commands reads a list, one command, or a block of text with one command per line.
func commands(node *yaml.Node) ([]string, error) {
	if node.Kind != yaml.ScalarNode || !strings.Contains(node.Value, "\n") {
		return list(node)
	}
	block := &yaml.Node{Kind: yaml.SequenceNode, Line: node.Line}
	for text := range strings.Lines(node.Value) {
		if strings.TrimSpace(text) != "" {
			block.Content = append(block.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: node.Line})
		}
	}
	return list(block)
}

func references(node *yaml.Node) ([]string, error) {
	values, err := list(node)
	for _, value := range values {
		if !idPattern().MatchString(value) && !numberPattern().MatchString(value) {
			return nil, errors.Join(err, refuse(node.Line, "depends_on %q is neither an id nor a number", value))
		}
	}
	return values, err
}

// clean turns untrusted text into one visible line. Control characters could steer a terminal; format
// characters (bidirectional overrides, zero-width joiners, tags) could make it show something else.
func clean(text string) string {
	visible := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, redact.Clean(text))
	return strings.Join(strings.Fields(visible), " ")
}
