package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// VariableError says what is wrong with an environment variable that overrides a setting.
type VariableError struct{ Name, says string }

// Error implements error.
func (e *VariableError) Error() string { return e.Name + e.says }

// variables override the file. Such a value has no line in it.
var variables = []struct {
	name, key string
	set       func(c *Config, value string) (want string)
}{
	{"SIGNALBOX_WORKFLOW", "workflow", func(c *Config, v string) string { c.Workflow = strings.Split(v, ","); return "" }},
	{"SIGNALBOX_APPROVE", "approve", func(c *Config, v string) string { c.Approve = v; return "" }},
	{"SIGNALBOX_PUSH", "push", func(c *Config, v string) string { c.Push = v; return "" }},
	{"SIGNALBOX_SANDBOX", "environment.sandbox", func(c *Config, v string) string { c.Environment.Sandbox = v; return "" }},
	{"SIGNALBOX_MAX_PARALLEL", "max_parallel", func(c *Config, v string) string {
		n, err := strconv.Atoi(v)
		if err != nil {
			return "a number"
		}
		c.MaxParallel = n
		return ""
	}},
}

// environment lets variables override the file. It returns which variables set which keys.
func (c *Config) environment(getenv func(string) string, p places) (from map[string]string, wrong error) {
	from = map[string]string{}
	for _, variable := range variables {
		v := getenv(variable.name)
		if v == "" {
			continue
		}
		delete(p, variable.key)
		from[variable.key] = variable.name
		if want := variable.set(c, v); want != "" {
			wrong = &VariableError{variable.name, fmt.Sprintf(" is %q: want %s", shown(v), want)}
		}
	}
	return from, wrong
}

// Misspelt returns an error for the first of the names that is nearly that of a variable which Signalbox reads; nil if none is.
func Misspelt(names []string) error {
	known := []string{"SIGNALBOX_TRUST"}
	for _, variable := range variables {
		known = append(known, variable.name)
	}
	for _, name := range names {
		for _, meant := range known {
			if strings.HasPrefix(name, prefix) && !slices.Contains(known, name) && apart(name, meant) <= min(2, len(meant[len(prefix):])/3) {
				return &VariableError{name, " is no variable that Signalbox reads: it is nearly " + meant}
			}
		}
	}
	return nil
}

const prefix = "SIGNALBOX_"

// apart returns how many letters must be added, removed or replaced to make b of a.
func apart(a, b string) int {
	row := make([]int, len(b)+1)
	for i := range row {
		row[i] = i
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0]++
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal, row[j+1] = row[j+1], min(replaced, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
