package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// places maps the file's keys to their lines.
type places map[string]int

// line returns the line of the key or, if the key is missing, of the nearest parent in the file; 0 if there is none.
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

// wrong returns an invalid value's error; the message follows the key without a space.
func wrong(key, format string, args ...any) error {
	return &invalid{key, fmt.Sprintf(format, args...)}
}

// located is a problem with its line in the file.
type located struct {
	line int
	err  error
}

// Error implements error.
func (l *located) Error() string { return fmt.Sprintf("line %d: %s", l.line, l.err) }

// Unwrap returns the problem.
func (l *located) Unwrap() error { return l.err }

// located returns all problems of an error with their lines, in the order of the file.
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

// told records problems that were already reported: keys with a wrong value, and keys that contain an unknown key.
type told struct{ wrong, lacks []string }

// beyond returns the problems of an error that don't follow from those.
func (t told) beyond(err error, p places) error {
	return errors.Join(slices.DeleteFunc(flat(err), func(problem error) bool { return t.covers(keyOf(problem), p) })...)
}

// covers reports whether a key's problem follows from a reported one: its value or a parent's is wrong; it is missing beside an unknown key; or it
// names an agent and the list of agents is broken.
func (t told) covers(key string, p places) bool {
	_, there := p[key]
	agents := slices.Contains(t.wrong, "agents") || slices.Contains(t.lacks, "") && p["agents"] == 0
	return slices.ContainsFunc(t.wrong, func(wrong string) bool { return within(key, wrong) }) ||
		!there && slices.ContainsFunc(t.lacks, func(in string) bool { return in != "" && within(key, in) }) ||
		agents && strings.Contains(key, "roles.")
}

// within reports whether a key equals another or is inside it.
func within(key, in string) bool {
	return in == "" || key == in || strings.HasPrefix(key, in+".") || strings.HasPrefix(key, in+"[")
}

// flat returns the joined errors.
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
