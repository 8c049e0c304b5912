package policy

import (
	"path"
	"slices"
	"strings"
)

// call takes one call of a program. In doubt, a program does more than look, and starts what it is given.
func (l *shellLine) call(fields []string) {
	program := path.Base(fields[0])
	if slices.Contains(lookers, program) && !(slices.Contains(scripted, program) && slices.ContainsFunc(fields, readsScript)) {
		return
	}
	l.looks = false
	if program == "cd" || program == "pushd" {
		l.folders = append(l.folders, fields[1:]...)
	}
	l.start(fields)
	if onlyRuns(fields) {
		return
	}
	l.open = true
	if l.blind = l.blind || startsUnnamed(fields); l.blind || slices.ContainsFunc(fields, bare) {
		l.given = append(l.given, l.folders...)
	}
	for _, field := range fields {
		if l.argument(field); strings.ContainsAny(field, " \t\n;") {
			l.inner = append(l.inner, field)
		}
	}
}

// start notes the program of a call, its script, and what options make any program load.
func (l *shellLine) start(fields []string) {
	at := started(fields)
	if at == len(fields) {
		return
	}
	program := path.Base(fields[at])
	l.programs = append(l.programs, program)
	for i, option := range fields[:len(fields)-1] {
		if _, value, ok := strings.Cut(fields[i+1], "="); ok && option == "-c" {
			l.give(value) // git -c core.hooksPath=ci
		} else if option == "-p" && (program == "pytest" || program == "py.test") {
			l.give(fields[i+1])
		}
	}
	interprets := func(field string) bool { return slices.Contains(interpreters, path.Base(field)) }
	for at < len(fields) && (interprets(fields[at]) || skipped(fields, at)) {
		at++
	}
	if at < len(fields) && !strings.ContainsAny(fields[at], " \t\n;") && (strings.Contains(fields[at], "/") || slices.ContainsFunc(fields[:at], interprets)) {
		if script := strings.TrimPrefix(fields[at], "/workspace/"); inside(script) {
			l.scripts = append(l.scripts, script)
		}
	}
}

// started returns the index of the program that a call starts, itself or by a launcher. It is that of a script for a launcher that interprets it.
func started(fields []string) (at int) {
	for at < len(fields) && (slices.Contains(launchers, path.Base(fields[at])) || skipped(fields, at)) {
		at++
	}
	return at
}

// skipped reports whether a field can't be a program or a script: an option or its value, a number, a duration, an assignment, or the
// subcommand of a launcher.
func skipped(fields []string, at int) bool {
	field := fields[at]
	return strings.HasPrefix(field, "-") || strings.Trim(field, "0123456789.smh") == "" || strings.Contains(field, "=") ||
		at > 0 && (slices.Contains(valued, fields[at-1]) || slices.Contains(subcommands, field))
}

// argument takes an argument of a program that may start or load what it is given. A value may be attached to its option.
func (l *shellLine) argument(field string) {
	if _, value, ok := strings.Cut(field, "="); ok {
		l.give(value)
	}
	l.give(strings.TrimLeft(field, "@"))
	if len(field) > 2 && slices.Contains(loading, field[:2]) {
		module, _, _ := strings.Cut(field[2:], "=")
		l.give(strings.ReplaceAll(module, "::", "/"))
	}
}

// onlyRuns reports whether a call takes its arguments for packages, tests or texts to check, and starts nothing below them.
func onlyRuns(fields []string) bool {
	program := path.Base(fields[0])
	if slices.Contains(builders, program) && len(fields) > 1 && fields[1] == "run" {
		return false
	}
	isRunner := func(field string) bool { return slices.Contains(runners(), path.Base(field)) }
	return slices.ContainsFunc(fields[:min(started(fields)+1, len(fields))], isRunner) && (shellIn(fields) < 0 || slices.Contains(inert, program))
}

// shellIn returns the index of the shell that a call starts; -1 if it starts none.
func shellIn(fields []string) int {
	return slices.IndexFunc(fields, func(field string) bool {
		first, _, _ := strings.Cut(field, " ")
		return slices.Contains(shells, path.Base(first))
	})
}

// startsUnnamed reports whether a call starts something whose name only shows when it runs.
func startsUnnamed(fields []string) bool {
	program, shell := path.Base(fields[0]), shellIn(fields)
	return program == "find" || slices.Contains(feeders, program) ||
		slices.Contains(interpreters, program) && !slices.ContainsFunc(fields[1:], namesWhatRuns) ||
		shell > 0 && slices.Contains(shells, path.Base(fields[shell])) && !slices.ContainsFunc(fields[shell+1:], namesWhatRuns) ||
		slices.ContainsFunc(fields, func(field string) bool { return strings.Contains(field, anything) && strings.Trim(field, "*/.") == "" })
}

// readsScript reports whether an option has a program read commands or patterns from a file, or start something.
func readsScript(option string) bool {
	short := strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "--")
	return short && strings.Contains(option, "f") || slices.ContainsFunc([]string{"--file", "--from", "-exec", "-ok"}, func(name string) bool { return strings.HasPrefix(option, name) })
}

// namesWhatRuns reports whether an interpreter with this argument reads no commands from its input: it names a file, or asks for the version.
func namesWhatRuns(field string) bool {
	return !strings.HasPrefix(field, "-") || strings.HasPrefix(field, "--") || strings.EqualFold(field, "-v")
}
