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

// located is a problem with the line of the file in which it is.
type located struct {
	line int
	err  error
}

// Error implements error.
func (l *located) Error() string { return fmt.Sprintf("line %d: %s", l.line, l.err) }

// Unwrap gives the problem.
func (l *located) Unwrap() error { return l.err }

// located are all problems of an error, each with its line, in the order of the file.
func (p places) located(err error) error {
	problems := flat(err)
	for i, problem := range problems {
		if key := keyOf(problem); key != "" && p.line(key) > 0 {
			problems[i] = &located{p.line(key), problem}
		}
	}
	slices.SortStableFunc(problems, func(a, b error) int { return cmp.Compare(lineOf(a), lineOf(b)) })
	return errors.Join(problems...)
}

func lineOf(err error) int {
	if l := (*located)(nil); errors.As(err, &l) {
		return l.line
	}
	return 0
}

func keyOf(err error) string {
	if i := (*invalid)(nil); errors.As(err, &i) {
		return i.key
	}
	return ""
}

// told is where problems are that are told already: keys whose value is wrong, and those in which a key
// stands that there is not.
type told struct{ wrong, lacks []string }

// beyond are the problems of an error that do not follow from those.
func (t told) beyond(err error, p places) error {
	return errors.Join(slices.DeleteFunc(flat(err), func(problem error) bool { return t.covers(keyOf(problem), p) })...)
}

// covers: the key's value is wrong, or in one that is; it is missing beside one that there is not; or it
// names an agent where nobody knows the agents.
func (t told) covers(key string, p places) bool {
	_, there := p[key]
	agents := slices.Contains(t.wrong, "agents") || slices.Contains(t.lacks, "") && p["agents"] == 0
	return slices.ContainsFunc(t.wrong, func(wrong string) bool { return within(key, wrong) }) ||
		!there && slices.ContainsFunc(t.lacks, func(in string) bool { return in != "" && within(key, in) }) ||
		agents && strings.Contains(key, "roles.")
}

// within reports whether a key is another or in it.
func within(key, in string) bool {
	return in == "" || key == in || strings.HasPrefix(key, in+".") || strings.HasPrefix(key, in+"[")
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
