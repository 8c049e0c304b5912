package policy

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// reading is what command lines say about files, as far as it can be told without running them.
type reading struct {
	// named are words that may name a file; followed are those of them that the lines do more with than look at.
	named, followed []string
	// given are words that may name a folder, or a script without the end of its name, for a program that starts what it finds there.
	given []string
	// scripts are the files that lines start, by themselves or by an interpreter.
	scripts []string
	// programs are the names of programs that lines start.
	programs []string
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
	if l.open {
		l.given = append(l.given, l.modules...)
	}
	r.given, r.blind = append(r.given, l.given...), r.blind || l.blind
	r.scripts, r.programs = append(r.scripts, l.scripts...), append(r.programs, l.programs...)
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
	// scripts and programs are those of reading. modules are the folders of PYTHONPATH, which count if a program other than a runner is started.
	scripts, programs, modules []string
	// folders are those that it changes to.
	folders []string
	// open: it starts a program that isn't a runner.
	looks, blind, open bool
}

// visit takes the words of the line from its commands.
func (l *shellLine) visit(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.Assign:
		l.assign(n)
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
			l.call(fields)
		}
	}
	return true
}

// assign takes what a variable makes programs load: from the folders that they search, or by options.
func (l *shellLine) assign(n *syntax.Assign) {
	if n.Value == nil {
		return
	}
	text, name := strings.Join(l.fold(n.Value), ":"), ""
	if n.Name != nil {
		name = n.Name.Value
	} else {
		name, text, _ = strings.Cut(text, "=") // the whole word is quoted
	}
	switch folders := strings.Split(text, ":"); {
	case slices.Contains(optional, name):
		for _, option := range strings.Fields(text) {
			l.argument(option)
		}
	case name == "PYTHONPATH":
		l.modules = append(l.modules, folders...)
	case slices.Contains(searched, name):
		for _, folder := range folders {
			l.give(folder)
		}
	}
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
	if word = strings.TrimPrefix(word, "/workspace/"); inside(word) {
		l.given = append(l.given, word)
	}
}

// inside reports whether a word may mean something in the project.
func inside(word string) bool { return !path.IsAbs(word) && !strings.Contains(word, "://") }
