package config

import (
	"math"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

// blank stands for a value that is wrong: nothing, which leaves the default. In a list, whose items the
// decoder counts without those that are nothing, it is an empty one.
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

// scalar is a type in the words of people, who wrote this.
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

// tooLong reports whether a text would be a time if its numbers were smaller.
func tooLong(value string) bool {
	_, err := time.ParseDuration(digits().ReplaceAllString(value, "1"))
	return err == nil
}

var digits = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+`) })
