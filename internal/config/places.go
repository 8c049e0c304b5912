package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// places are the lines of the file in which its keys stand.
type places map[string]int

// line is that of the key or, where it is not there itself, of what it would be in; 0 if of neither.
func (p places) line(key string) int {
	for key != "" {
		if line, known := p[key]; known {
			return line
		}
		key = key[:max(0, strings.LastIndexAny(key, ".["))]
	}
	return 0
}

// invalid says what is wrong with the value of a key.
type invalid struct{ key, says string }

// Error implements error.
func (i *invalid) Error() string { return i.key + i.says }

// wrong is an invalid value; what it says follows the key without a space.
func wrong(key, format string, args ...any) error {
	return &invalid{key, fmt.Sprintf(format, args...)}
}

// located are all problems of an error, each with its line, in the order of the file.
func (p places) located(err error) error {
	problems := flat(err)
	lineOf := func(err error) int {
		var i *invalid
		if errors.As(err, &i) {
			return p.line(i.key)
		}
		return 0
	}
	slices.SortStableFunc(problems, func(a, b error) int { return cmp.Compare(lineOf(a), lineOf(b)) })
	for i, problem := range problems {
		if line := lineOf(problem); line > 0 {
			problems[i] = fmt.Errorf("line %d: %w", line, problem)
		}
	}
	return errors.Join(problems...)
}

// flat are the errors that were joined.
func flat(err error) (list []error) {
	var joined interface{ Unwrap() []error }
	switch {
	case err == nil:
	case errors.As(err, &joined):
		for _, e := range joined.Unwrap() {
			list = append(list, flat(e)...)
		}
	default:
		list = append(list, err)
	}
	return list
}
