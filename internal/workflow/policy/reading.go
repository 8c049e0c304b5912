package policy

import (
	"io"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// reading is what command lines say about files, as far as it can be told without running them.
type reading struct {
	// named are words that may name a file; followed are those of them that the lines do more with than look at.
	named, followed []string
	// given are words that may name a folder, or a script without the end of its name, for a program that starts what it finds there.
	given []string
	// blind: a line starts something whose name only shows when it runs. garbled: a line doesn't parse.
	blind, garbled bool
}

func read(lines []string) (r reading) {
	for _, line := range lines {
		r.garbled = !r.line(line) || r.garbled
	}
	return r
}

// line adds a line, and reports whether it parses. If one of its programs does more than look, all of its words are followed. A command
// that writes a file follows its own words, because another line may start the result.
func (r *reading) line(text string) bool {
	parsed, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return false
	}
	l := &shellLine{text: text, known: map[string]string{"PWD": ".", "SIGNALBOX_ENV_DIR": ".", "HOME": "/home", "PORT": bound, "IFS": " \t\n"}, looks: true}
	l.say(words([]string{text}))
	syntax.Walk(parsed, l.bind)
	syntax.Walk(parsed, l.visit)
	if r.named = append(r.named, l.said...); !l.looks {
		r.followed = append(r.followed, l.said...)
	}
	if r.followed = append(r.followed, l.written...); l.blind {
		l.given = l.said
	}
	r.given, r.blind = append(r.given, l.given...), r.blind || l.blind
	for _, inner := range l.inner {
		r.line(inner) // not every text is one
	}
	return true
}

// shellLine is one line of a shell while it is read.
type shellLine struct {
	text string
	// known are values of variables; others could be anything.
	known map[string]string
	// said are its words, unquoted and as they are written; written are those of commands that write files; inner are texts that may be lines.
	said, written, given, inner []string
	// folders are those that it changes to.
	folders      []string
	looks, blind bool
}

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

// visit takes the words of the line from its commands.
func (l *shellLine) visit(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.Assign:
		if n.Value == nil {
			break
		}
		text, name := strings.Join(l.fold(n.Value), ":"), ""
		if n.Name != nil {
			name = n.Name.Value
		} else {
			name, text, _ = strings.Cut(text, "=") // the whole word is quoted
		}
		if slices.Contains(searched, name) {
			for _, folder := range strings.Split(text, ":") {
				l.give(folder)
			}
		}
	case *syntax.WordIter:
		l.say(l.fold(n.Items...))
	case *syntax.Stmt:
		for _, to := range n.Redirs {
			target := l.fold(to.Word)
			if l.say(target); slices.Contains(writes, to.Op) && !slices.Contains(target, "/dev/null") {
				l.written = append(l.written, words([]string{l.text[n.Pos().Offset():n.End().Offset()]})...)
			}
		}
	case *syntax.CallExpr:
		if fields := l.fold(n.Args...); len(fields) > 0 {
			l.say(fields)
			l.call(path.Base(fields[0]), fields)
		}
	}
	return true
}

// writes are the redirections that write a file.
var writes = []syntax.RedirOperator{syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll}

// say adds words to those of the line. A value may be attached to its option, or a sign to a name.
func (l *shellLine) say(fields []string) {
	for _, field := range fields {
		l.said = append(l.said, field)
		if bare := strings.TrimLeft(field, "-@"); bare != field && len(bare) > 1 {
			l.said = append(l.said, bare, bare[1:])
		}
	}
}

// give adds a word that a program may take for a folder. One outside of the project doesn't count.
func (l *shellLine) give(word string) {
	if word = strings.TrimPrefix(word, "/workspace/"); !path.IsAbs(word) && !strings.Contains(word, "://") {
		l.given = append(l.given, word)
	}
}

// call takes one call of a program. In doubt, a program does more than look, and starts what it is given.
func (l *shellLine) call(program string, fields []string) {
	has := func(is func(field string) bool) bool { return slices.ContainsFunc(fields, is) }
	if slices.Contains(lookers, program) && !(slices.Contains(scripted, program) && has(readsScript)) {
		return
	}
	l.looks = false
	if program == "cd" || program == "pushd" {
		l.folders = append(l.folders, fields[1:]...)
	}
	runs := runner(fields) && !(slices.Contains(builders, program) && len(fields) > 1 && fields[1] == "run")
	shell := slices.IndexFunc(fields, func(field string) bool {
		first, _, _ := strings.Cut(field, " ")
		return slices.Contains(shells, path.Base(first))
	})
	if runs && (shell < 0 || slices.Contains(inert, program)) {
		return
	}
	l.blind = l.blind || program == "find" || slices.Contains(feeders, program) ||
		slices.Contains(interpreters, program) && !slices.ContainsFunc(fields[1:], namesWhatRuns) ||
		shell > 0 && slices.Contains(shells, path.Base(fields[shell])) && !slices.ContainsFunc(fields[shell+1:], namesWhatRuns) ||
		has(func(field string) bool { return strings.Contains(field, anything) && strings.Trim(field, "*/.") == "" })
	if l.blind || has(bare) {
		l.given = append(l.given, l.folders...)
	}
	for _, field := range fields {
		if _, value, ok := strings.Cut(field, "="); ok && !runs {
			l.give(value)
		}
		if !runs {
			l.give(strings.TrimLeft(field, "@"))
			if joined, ok := strings.CutPrefix(field, "-I"); ok {
				l.give(joined)
			}
		}
		if strings.ContainsAny(field, " \t\n;") {
			l.inner = append(l.inner, field)
		}
	}
}

// runner reports whether a call starts one of the runners, itself or by a launcher. A word further on says nothing about the program.
func runner(fields []string) bool {
	for _, field := range fields {
		switch base := path.Base(field); {
		case slices.Contains(runners(), base):
			return true
		case !slices.Contains(launchers, base) && !strings.HasPrefix(field, "-") && strings.Trim(field, "0123456789.smh") != "" && !strings.Contains(field, "="):
			return false
		}
	}
	return false
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
