package wire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"signalbox/internal/commandline"
	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/lazy"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/wire/folder"
)

// Line is one line for sh that runs of the project start.
type Line struct {
	// Key is where it is written in File: "tests" in .signalbox/config.yaml.
	Key, File, Text string
	// ofSetUp: it runs in the setup's shell. first: nothing runs before it that could install its program.
	ofSetUp, first bool
}

// LineError says why a line can't do its work.
type LineError struct {
	Line
	// Says is what is wrong, Next what to type about it.
	Says, Next string
	// Unsure: the setup, which runs before the line, may bring what is missing. Broken: something is there and can prove nothing, so no
	// setup helps.
	Unsure, Broken bool
}

func (e *LineError) Error() string { return e.Key + " in " + e.File + ": " + e.Says }

// Lines are the lines that a run of the request starts; without a request, those that the configuration names, for health checks too.
func (p *Project) Lines(request forge.Request) (lines []Line) {
	add := func(key, file string, ofSetUp bool, texts ...string) {
		for _, text := range texts {
			lines = append(lines, Line{Key: key, File: file, Text: text, ofSetUp: ofSetUp})
		}
	}
	e := p.Config.Environment
	add("environment.set_up", config.Name, true, e.SetUp...)
	for _, v := range e.Verify {
		add("environment.verify", config.Name, true, v.Command)
	}
	if len(lines) > 0 {
		lines[0].first = true
	}
	tests := p.Config.Tests
	if settings, err := p.settings(request); err == nil { // otherwise it is reported elsewhere
		tests = settings.Tests
	}
	for _, text := range tests {
		file := config.Name
		if !slices.Contains(p.Config.Tests, text) {
			file = request.Path
		}
		add("tests", file, false, text)
	}
	add("tests_e2e", config.Name, false, p.Config.TestsE2E...)
	if p.Config.Stress != "" {
		add("stress", config.Name, false, p.Config.Stress)
	}
	if request.ID != "" {
		return lines
	}
	for _, check := range p.Config.Health.Checks {
		for _, text := range []string{check.Command, check.Start, check.Rerun} {
			if text != "" {
				add("health.checks ("+check.ID+")", config.Name, false, text)
			}
		}
	}
	return lines
}

// CheckLine says why a line can't do its work in a run into base, as far as that is known without running it; nil if nothing is wrong.
// Only with inside, which starts a sandbox, it looks for programs where commands run.
func (p *Project) CheckLine(ctx context.Context, l Line, base string, inside bool) *LineError {
	wrong := &LineError{Line: l, Next: "correct " + l.Key + " in " + l.File}
	if says := p.syntaxOf(ctx, p.shellsFor(l), l.Text+"\n"); says != "" {
		wrong.Says, wrong.Broken = fmt.Sprintf("%q can't be read by sh: %s", l.Text, shellPlace().ReplaceAllString(says, "")), true
		return wrong
	}
	s := startOf(l.Text)
	if s.dir != "" {
		if f, known := p.find(ctx, base, s.dir); known && f.gone {
			wrong.Says, wrong.Unsure = fmt.Sprintf("%q changes to %s, which is not in the project", l.Text, s.dir), p.setsUpBefore(ctx, l)
			return wrong
		}
	}
	if s.file != "" {
		if file := p.FileProblem(ctx, base, s.file, s.by); file != nil {
			wrong.Says, wrong.Next, wrong.Broken = fmt.Sprintf("%q starts %s, which %s", l.Text, s.shown, file.Says), cmp.Or(file.Next, wrong.Next), file.Broken
			wrong.Unsure = !file.Broken && p.setsUpBefore(ctx, l)
			return wrong
		}
	}
	if !inside {
		return nil
	}
	return p.missingProgram(ctx, wrong, s, base)
}

// missingProgram completes a line's error if the program that it starts, or its script names as its interpreter, isn't where commands
// run; nil if it is.
func (p *Project) missingProgram(ctx context.Context, wrong *LineError, s start, base string) *LineError {
	program, shown, correct := s.program, s.program, wrong.Next
	if program == "" && s.file != "" {
		program = p.interpreterFor(ctx, base, s.file)
		shown, correct = s.shown+", whose first line names "+program, "correct the first line of "+s.file
	}
	if program == "" {
		return nil
	}
	wrong.Says = fmt.Sprintf("%q starts %s, and there is no such program where commands run", wrong.Text, shown)
	if there, err := p.hasProgram(ctx, findProgram, program); err != nil {
		return nil
	} else if there {
		if s.module == "" || p.hasModule(ctx, s, base) {
			return nil
		}
		wrong.Says = fmt.Sprintf("%q starts the module %s, and %s has no such module where commands run", wrong.Text, s.module, program)
	}
	wrong.Unsure = p.setsUpBefore(ctx, wrong.Line)
	if wrong.Next = "install it, have environment.set_up install it, or " + correct; wrong.ofSetUp {
		wrong.Next = "install it, or " + correct
	}
	return wrong
}

// MayRunLines refuses a run whose lines can't do their work, before anything is made for it. Programs and scripts that its tests lack,
// the run itself finds out in its environment for free, and can be told to go on.
func (p *Project) MayRunLines(ctx context.Context, request forge.Request) error {
	for _, path := range p.Config.Environment.Read {
		if err := CheckRead(path); err != nil {
			return err
		}
	}
	base := request.Base
	if base == "" {
		base, _ = p.Base(ctx) // what is wrong with it is reported by Start
	}
	for _, l := range p.Lines(request) {
		test := !l.ofSetUp && l.Key != "stress"
		if wrong := p.CheckLine(ctx, l, base, !test); wrong != nil && !wrong.Unsure && (wrong.Broken || !test) {
			return &problem.Error{Err: wrong, Hint: wrong.Next}
		}
	}
	return nil
}

// CheckRead says why a path of environment.read can't be shown to commands, nil if it can.
func CheckRead(path string) error {
	why := ""
	switch _, err := os.Stat(path); {
	case !filepath.IsAbs(path):
		why = "is not absolute"
	case errors.Is(err, fs.ErrNotExist):
		why = "does not exist"
	case err != nil:
		why = "cannot be looked at: " + err.Error()
	default:
		return nil
	}
	return &problem.Error{Err: fmt.Errorf("environment.read in %s names %q, which %s", config.Name, path, why),
		Hint: "name absolute paths that exist, or take this one out; for a folder that a program makes later: mkdir -p " + commandline.ShellWord(path)}
}

// shellsFor are the shells that have to be able to read a line: one is enough.
func (p *Project) shellsFor(l Line) []string {
	if l.ofSetUp || p.Config.Environment.Driver == config.DriverContainer { // an image's sh may be any shell, so refuse only what bash can't read either
		return []string{"bash", "sh"}
	}
	return []string{"sh"}
}

// syntaxOf is what the first of the shells that this machine has says against the syntax of a text; empty if nothing, or if that can't
// be found out. A shell is only started if our own parser reads the text otherwise. It only parses the text, and reads it from standard
// input, since old versions of dash run a line of "sh -n -c" all the same.
func (p *Project) syntaxOf(ctx context.Context, shells []string, text string) string {
	variant := syntax.LangPOSIX
	if slices.Contains(shells, "bash") {
		variant = syntax.LangBash
	}
	if _, err := syntax.NewParser(syntax.Variant(variant)).Parse(strings.NewReader(text), ""); err == nil {
		return ""
	}
	for _, shell := range shells {
		var said bytes.Buffer
		result, err := p.Host().Exec(ctx, process.Command{Args: append(strings.Fields(shell), "-n"), Dir: "/", Env: []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"},
			Stdin: strings.NewReader(text), Stderr: &said, Total: lookWait, OutputLimit: 4 << 10})
		if errors.Is(err, process.ErrNotFound) {
			continue
		}
		if err != nil || ctx.Err() != nil || result.Ending != process.Exited || result.OK() {
			return ""
		}
		says, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return says
	}
	return ""
}

// shellPlace is the shell and the line that its messages begin with.
var shellPlace = lazy.Pattern(`^\S+: (?:line )?(\d+): `)

// setsUpBefore reports whether a setup runs before the line, which may bring what the line starts.
func (p *Project) setsUpBefore(ctx context.Context, l Line) bool {
	e := p.Config.Environment
	if l.ofSetUp || e.SetUp != nil || len(e.Verify) > 0 {
		return !l.first && len(e.SetUp) > 0
	}
	found, err := p.DetectHere(ctx, "")
	return err == nil && len(found.SetUp) > 0
}

// hasModule reports whether the module of Python that a line starts is in the project or where commands run; true if that can't be found out.
func (p *Project) hasModule(ctx context.Context, s start, base string) bool {
	for _, name := range []string{s.module, s.module + ".py"} {
		if f, known := p.find(ctx, base, folder.Within(s.dir, name)); !known || !f.gone {
			return true
		}
	}
	for _, variable := range p.Variables() {
		if strings.HasPrefix(variable, "PYTHON") { // it may lead to modules elsewhere in the project, which doctor must not start
			return true
		}
	}
	there, err := p.hasProgram(ctx, findModule, s.program, s.module)
	return err != nil || there
}

// findModule finds a module of Python and loads none of the working folder. Only its exit code 3 says that the module is missing: an
// old or a broken Python fails in other ways.
const findModule = `"$1" -c 'import sys
sys.path[:1] = []
import importlib.util
sys.exit(3 if importlib.util.find_spec(sys.argv[1]) is None else 0)' "$2"; test $? != 3`

// hasProgram reports whether a script that looks for words finds them where commands run; true if that can't be found out.
func (p *Project) hasProgram(ctx context.Context, script string, words ...string) (there bool, err error) {
	look := func(ctx context.Context, exec process.Executor) error {
		result, err := exec.Exec(ctx, process.Command{Args: append([]string{"sh", "-c", script, "sh"}, words...), Env: p.Variables(), Total: lookWait, OutputLimit: 4 << 10})
		there = err != nil || ctx.Err() != nil || result.Ending != process.Exited || result.OK()
		return err
	}
	there = true
	if p.Unsandboxed() {
		err = look(ctx, p.Host())
		return there, err
	}
	_, err = p.TryInside(ctx, look)
	return there, err
}

// findProgram finds what a shell would run for a word: a program, a built-in or a keyword. It runs none of them.
const findProgram = `command -v -- "$1"`

// lookWait is how long it may take to look for a program.
const lookWait = 10 * time.Second

// start is what a line for sh starts, as far as that is clear without parsing it as a shell does.
type start struct {
	// dir is the folder that it changes to first, from the project's root.
	dir string
	// program is to be found where commands run; empty if the line starts a file of the project itself.
	program string
	// file is the project's file that it starts, from the project's root, and shown the same in the line's words. by is the interpreter
	// that the line names for it; empty if the file starts by itself.
	file, shown, by string
	// module is the module that it has Python start, if its name is one word.
	module string
}

func startOf(line string) (s start) {
	words := strings.Fields(line)
	finds := !strings.Contains(line, "PYTHON") // no variable leads Python elsewhere
	for len(words) > 0 {
		name, _, assigned := strings.Cut(words[0], "=")
		changes := len(words) > 3 && words[0] == "cd" && plainWord(words[1]) && words[1][0] != '-' && words[2] == "&&"
		switch {
		case assigned && !strings.ContainsAny(name, "/.-"):
			words = words[1:]
			continue
		case changes:
			s.dir, words = folder.Within(s.dir, words[1]), words[3:]
			continue
		case !plainWord(words[0]):
			return s
		case strings.Contains(words[0], "/") && !filepath.IsAbs(words[0]):
			s.shown, s.file = words[0], folder.Within(s.dir, words[0])
			return s
		}
		s.program = words[0]
		if finds && len(words) > 2 && pythonName().MatchString(s.program) && words[1] == "-m" && moduleName().MatchString(words[2]) {
			s.module = words[2]
		}
		if script := scriptAmong(words); script != "" {
			s.by, s.shown, s.file = filepath.Base(s.program), script, folder.Within(s.dir, script)
		}
		return s
	}
	return s
}

var (
	pythonName = lazy.Pattern(`^(/.*/)?python[0-9.]*$`)
	moduleName = lazy.Pattern(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// plainWord reports whether a shell takes a word as it is written.
func plainWord(word string) bool { return !strings.ContainsAny(word, "$`\"'(){}|&;<>*?[]~\\!#") }
