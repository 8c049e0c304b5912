package config

import (
	"math"
	"reflect"
	"signalbox/internal/lazy"
	"strings"
	"time"

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
	case t == duration && tooLong(value):
		return "a time that is shorter: " + strings.TrimSuffix(time.Duration(math.MaxInt64).Truncate(time.Hour).String(), "0m0s") + " is the longest"
	case t == duration:
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

// tooLong reports whether a text would be a duration if its numbers were smaller.
func tooLong(value string) bool {
	_, err := time.ParseDuration(digits().ReplaceAllString(value, "1"))
	return err == nil
}

var digits = lazy.Pattern(`[0-9]+`)
