package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/lazy"

	"go.yaml.in/yaml/v3"
)

// blank replaces a wrong value: null, which leaves the default, or an empty list inside a list, because the decoder skips null items when it
// counts.
func blank(t reflect.Type, line int, item bool) yaml.Node {
	switch {
	case item && t.Kind() == reflect.Struct:
		return yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: line}
	case item && t.Kind() == reflect.String:
		return yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Line: line}
	}
	return yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: line}
}

var duration = reflect.TypeFor[time.Duration]()

// scalar names a type in words for the file's author.
func scalar(t reflect.Type, value string) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == duration:
		if _, err := time.ParseDuration(digits().ReplaceAllString(value, "1")); err == nil { // smaller numbers would make it one
			return "a time that is shorter: " + strings.TrimSuffix(time.Duration(math.MaxInt64).Truncate(time.Hour).String(), "0m0s") + " is the longest"
		}
		return "a time such as 90s, 10m or 2h"
	case t.Kind() == reflect.String:
		return "text"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

var digits = lazy.Pattern(`[0-9]+`)

// Bytes is a size in bytes, written as a number with K, M, G or T (powers of 1024) or without.
type Bytes int64

// UnmarshalYAML reads "20G".
func (b *Bytes) UnmarshalYAML(node *yaml.Node) error {
	number, unit := strings.TrimSuffix(node.Value, "B"), 0
	if n := len(number); n > 0 {
		if unit = strings.IndexByte("KMGT", number[n-1]) + 1; unit > 0 {
			number = number[:n-1]
		}
	}
	size, err := strconv.ParseInt(number, 10, 64)
	if err != nil || size < 0 || size > math.MaxInt64>>(10*unit) {
		return fmt.Errorf("line %d: %q is not a size: want a number, optionally followed by K, M, G or T", node.Line, node.Value)
	}
	*b = Bytes(size << (10 * unit))
	return nil
}

// Lines is one line or a list of them.
type Lines []string

// UnmarshalYAML accepts a string or a list of strings.
func (l *Lines) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*l = nil
		if node.Value != "" {
			*l = Lines{node.Value}
		}
		return nil
	}
	var list []string
	if err := node.Decode(&list); err != nil {
		return fmt.Errorf("line %d: want a line or a list of lines", node.Line)
	}
	if i := slices.IndexFunc(list, func(line string) bool { return strings.TrimSpace(line) == "" }); i >= 0 {
		return fmt.Errorf("line %d: number %d is empty", node.Content[i].Line, i+1)
	}
	*l = list
	return nil
}
