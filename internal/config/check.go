package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"signalbox/internal/lazy"

	"go.yaml.in/yaml/v3"
)

const (
	// maxNodes is how much of a file is checked. Aliases can make a small file huge.
	maxNodes = 200_000
	// maxProblems is how many problems are reported at once.
	maxProblems = 20
)

// checker compares a file with the settings before they are read from it, so that every problem is reported with its line and its key.
type checker struct {
	places   places
	problems []error
	// told records where problems were reported.
	told    told
	visited int
}

// check checks one value. key is its place in the file, as in "environment.verify[1].command".
func (c *checker) check(n *yaml.Node, t reflect.Type, key string) {
	here := n
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if c.visited++; c.visited > maxNodes || n.Tag == "!!null" {
		return // null means the default
	}
	if _, known := c.places[key]; !known {
		c.places[key] = n.Line
	}
	before := len(c.problems)
	defer func() {
		if len(c.problems) > before && slices.Contains(c.told.wrong, key) {
			*here = blank(t, here.Line, strings.HasSuffix(key, "]"))
		}
	}()
	_, own := reflect.New(t).Interface().(yaml.Unmarshaler)
	switch kind := t.Kind(); {
	case own:
		c.own(n, t, key)
	case kind == reflect.Struct || kind == reflect.Map:
		c.mapping(n, t, key)
	case kind == reflect.Slice && n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
			c.check(item, t.Elem(), fmt.Sprintf("%s[%d]", key, i+1))
		}
	case kind == reflect.Slice:
		c.wants(n, key, "a list")
	case n.Kind != yaml.ScalarNode || n.Decode(reflect.New(t).Interface()) != nil || t == duration && n.Tag == "!!int" && n.Value != "0":
		c.wants(n, key, scalar(t, n.Value))
	}
}

// mapping checks the keys of a struct, which are fixed, or of a map, which are free.
func (c *checker) mapping(n *yaml.Node, t reflect.Type, key string) {
	if n.Kind != yaml.MappingNode {
		c.wants(n, key, "keys with values")
		return
	}
	seen := map[string]int{}
	var good []*yaml.Node
	defer func() { n.Content = good }()
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		if c.visited++; c.visited > maxNodes {
			return
		}
		if name.Kind == yaml.ScalarNode && name.Tag == "!!merge" {
			good = append(good, name, value) // the decoder checks the merged keys
			continue
		}
		of, known := valueType(t, name)
		path := strings.TrimPrefix(key+"."+name.Value, ".")
		switch line, twice := seen[name.Value]; {
		case !known:
			in := ""
			if key != "" {
				in = " in " + key
			}
			c.problem(name.Line, "there is no key %q%s%s", shown(name.Value), in, meant(t, name.Value))
			// The key that was meant is missing; that is not reported as well.
			c.told.lacks = append(c.told.lacks, key)
		case twice:
			c.problem(name.Line, "%s is already set in line %d", path, line)
		default:
			seen[name.Value], c.places[path] = name.Line, name.Line
			c.check(value, of, path)
			good = append(good, name, value)
		}
	}
}

// meant asks whether a key of a struct was meant that is nearly like the unknown name; empty if none is.
func meant(t reflect.Type, name string) string {
	if t.Kind() != reflect.Struct || len(name) > 40 {
		return ""
	}
	for field := range t.Fields() {
		if key := field.Tag.Get("yaml"); key != "" && apart(name, key) <= min(2, len(key)/3) {
			return fmt.Sprintf(": did you mean %q?", key)
		}
	}
	return ""
}

// valueType returns the type for the value of a key in t; known is false if t has no such key.
func valueType(t reflect.Type, name *yaml.Node) (of reflect.Type, known bool) {
	if name.Kind != yaml.ScalarNode {
		return nil, false
	}
	if t.Kind() == reflect.Map {
		return t.Elem(), true
	}
	for field := range t.Fields() {
		if tag := field.Tag.Get("yaml"); tag != "" && tag == name.Value {
			return field.Type, true
		}
	}
	return nil, false
}

// ownError matches the line number and the message of a type that decodes itself.
var ownError = lazy.Pattern(`^line (\d+): (.*)`)

// own has such a type decode itself.
func (c *checker) own(n *yaml.Node, t reflect.Type, key string) {
	err := n.Decode(reflect.New(t).Interface())
	if err == nil {
		return
	}
	line, says := n.Line, err.Error()
	if found := ownError().FindStringSubmatch(says); found != nil {
		_, _ = fmt.Sscan(found[1], &line)
		says = found[2]
	}
	c.told.wrong = append(c.told.wrong, key)
	c.problem(line, "%s: %s", key, says)
}

func (c *checker) wants(n *yaml.Node, key, what string) {
	is := map[yaml.Kind]string{yaml.SequenceNode: "a list", yaml.MappingNode: "keys with values"}[n.Kind]
	if is == "" {
		is = fmt.Sprintf("%q", shown(n.Value))
	}
	c.told.wrong = append(c.told.wrong, key)
	if key == "" {
		key = "the file"
	}
	c.problem(n.Line, "%s is %s: want %s", key, is, what)
}

func (c *checker) problem(line int, format string, args ...any) {
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, &located{line, fmt.Errorf(format, args...)})
	}
}

// shown shortens an untrusted word for people.
func shown(word string) string {
	const most = 60
	if utf8.RuneCountInString(word) > most {
		return string([]rune(word)[:most]) + "…"
	}
	return word
}
