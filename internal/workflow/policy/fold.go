package policy

import (
	"io"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// The values of variables that are only known when the line runs, as patterns: anything, or one of the words of the line.
const (
	anything = "*"
	bound    = "?*"
)

// bind notes the variables that the line itself sets.
func (l *shellLine) bind(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.Assign:
		if n.Name != nil && n.Value != nil && n.Name.Value != "PATH" {
			value := strings.Join(l.fold(n.Value), " ")
			if before, again := l.known[n.Name.Value]; again && before != value || len(value) > longestValue {
				value = bound
			}
			l.known[n.Name.Value] = value
		}
	case *syntax.WordIter:
		l.known[n.Name.Value] = bound
		if slices.ContainsFunc(l.fold(n.Items...), bare) {
			l.known[n.Name.Value] = anything
		}
	case *syntax.CallExpr:
		if fields := l.fold(n.Args...); len(fields) > 1 && slices.Contains(readers, fields[0]) {
			for _, name := range fields[1:] {
				l.known[name] = anything
			}
		}
	}
	return true
}

// bare reports whether a field may be anything in the current folder, or the folder itself.
func bare(field string) bool {
	return field != "/" && strings.Trim(field, "*?/.") == "" && !strings.HasPrefix(field, "/")
}

// mostFields bounds what the braces of one word make, and longestValue what variables made of others do.
const mostFields, longestValue = 1000, 4096

// fold returns the fields that a shell makes of words, with patterns where only running the line would tell.
func (l *shellLine) fold(words ...*syntax.Word) (fields []string) {
	config := &expand.Config{Env: expand.FuncEnviron(l.value), CmdSubst: l.printed, ProcSubst: func(*syntax.ProcSubst) (string, error) { return anything, nil }}
	for field, err := range expand.FieldsSeq(config, words...) {
		if err != nil || len(fields) == mostFields {
			return append(fields, anything)
		}
		fields = append(fields, field)
	}
	return fields
}

// value returns what is known of a variable.
func (l *shellLine) value(name string) string {
	if v, ok := l.known[name]; ok {
		return v
	}
	if strings.HasPrefix(name, "SIGNALBOX_") || strings.Trim(name, "0123456789@*#?$!-") == "" {
		return bound
	}
	return anything
}

// printed writes what is known of what a command within the line prints.
func (l *shellLine) printed(to io.Writer, s *syntax.CmdSubst) error {
	text := anything
	if command := l.text[s.Pos().Offset():s.End().Offset()]; slices.Contains(printsFolder, strings.Trim(command, "$()` ")) {
		text = "."
	}
	_, err := io.WriteString(to, text)
	return err
}
