package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"signalbox/internal/commandline"
	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/lazy"
	"signalbox/internal/problem"
	"signalbox/internal/process"
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
	// Unsure: the setup, which runs before the line, may bring what is missing.
	Unsure bool
}

func (e *LineError) Error() string { return e.Key + " in " + e.File + ": " + e.Says }

// Lines are the lines that a run of the request starts; without a request, those that the configuration names.
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
	return lines
}

// CheckLine says why a line can't do its work in a run into base, as far as that is known without running it; nil if nothing is wrong.
func (p *Project) CheckLine(ctx context.Context, l Line, base string) *LineError {
	if says := p.syntaxOf(ctx, l); says != "" {
		return &LineError{Line: l, Says: fmt.Sprintf("%q can't be read by sh: %s", l.Text, says), Next: "correct " + l.Key + " in " + l.File}
	}
	word, ok := firstProgram(l.Text)
	if !ok {
		return nil
	}
	wrong := &LineError{Line: l, Unsure: p.setsUpBefore(ctx, l)}
	if strings.Contains(word, "/") && !filepath.IsAbs(word) {
		says, next := p.FileProblem(ctx, base, word, true)
		if wrong.Says, wrong.Next = fmt.Sprintf("%q starts %s, which %s", l.Text, word, says), next; says == "" {
			return nil
		}
		if next == "" {
			wrong.Next = "correct " + l.Key + " in " + l.File
		}
		return wrong
	}
	if there, err := p.hasProgram(ctx, word); err != nil || there {
		return nil
	}
	wrong.Says = fmt.Sprintf("%q starts %s, and there is no such program where commands run", l.Text, word)
	wrong.Next = "install it, or correct " + l.Key + " in " + l.File
	if !l.ofSetUp {
		wrong.Next = "install it, have environment.set_up install it, or correct " + l.Key + " in " + l.File
	}
	return wrong
}

// MayRunLines refuses a run whose lines can't do their work, before anything is made for it. What its tests lack, the run itself finds
// out in its environment for free, and can be told to go on.
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
		if !l.ofSetUp && l.Key != "stress" {
			if says := p.syntaxOf(ctx, l); says == "" {
				continue
			}
		}
		if wrong := p.CheckLine(ctx, l, base); wrong != nil && !wrong.Unsure {
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

// syntaxOf is what the shell that will run a line says against its syntax; empty if nothing, or if that can't be found out. The line is
// read from standard input, since old versions of dash run a line of "sh -n -c" all the same.
func (p *Project) syntaxOf(ctx context.Context, l Line) string {
	shells := []string{"sh"}
	if l.ofSetUp || p.Config.Environment.Driver == config.DriverContainer { // an image's sh may be any shell, so refuse only what bash can't read either
		shells = []string{"bash", "sh"}
	}
	for _, shell := range shells {
		var said bytes.Buffer
		result, err := p.Host().Exec(ctx, process.Command{Args: []string{shell, "-n"}, Dir: "/", Env: []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"},
			Stdin: strings.NewReader(l.Text + "\n"), Stderr: &said, Total: lookWait, OutputLimit: 4 << 10})
		if errors.Is(err, process.ErrNotFound) {
			continue
		}
		if err != nil || ctx.Err() != nil || result.Ending != process.Exited || result.OK() {
			return ""
		}
		says, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return shellPlace().ReplaceAllString(says, "")
	}
	return ""
}

// shellPlace is the shell and the line that its messages begin with.
var shellPlace = lazy.Pattern(`^\S+: (line )?\d+: `)

// setsUpBefore reports whether a setup runs before the line, which may bring what the line starts.
func (p *Project) setsUpBefore(ctx context.Context, l Line) bool {
	e := p.Config.Environment
	if l.ofSetUp || e.SetUp != nil || len(e.Verify) > 0 {
		return !l.first && len(e.SetUp) > 0
	}
	found, err := p.DetectHere(ctx, "")
	return err == nil && len(found.SetUp) > 0
}

// FileProblem says why a run into base can't use a file of the project, and what to type about it; empty if it can. The run has what is
// committed on base, so that counts and not the work tree.
func (p *Project) FileProblem(ctx context.Context, base, name string, runs bool) (says, next string) {
	name = path.Clean(filepath.ToSlash(name))
	info, err := os.Lstat(filepath.Join(p.Root, name))
	gone := errors.Is(err, fs.ErrNotExist)
	if !filepath.IsLocal(name) || err != nil && !gone {
		return "", ""
	}
	word := commandline.ShellWord(name)
	makeIt := "chmod +x " + word + " && git add " + word + " && git commit -m 'Make it executable'; or start it with its shell: sh " + word
	at, err := p.Repo.Resolve(ctx, "refs/heads/"+base)
	if err != nil { // it is reported elsewhere
		at = ""
	}
	if at != "" {
		files, err := p.Repo.TreeFiles(ctx, at, name)
		switch {
		case err != nil:
			return "", ""
		case len(files) == 1 && files[0].Path == name && runs && !files[0].Executable:
			return "isn't executable on " + base, makeIt
		case len(files) > 0:
			return "", ""
		}
	}
	switch {
	case gone:
		return "is not in the project", ""
	case !info.Mode().IsRegular():
		return "", ""
	case runs && info.Mode()&0o111 == 0:
		return "isn't executable", makeIt
	case at != "" && p.onlyHere(ctx, name):
		return "isn't committed on " + base + ", so no run has it", "git add " + word + " && git commit"
	}
	return "", ""
}

// onlyHere reports whether a file of the work tree reaches no environment: git neither has it nor ignores it, and nothing else copies it.
func (p *Project) onlyHere(ctx context.Context, name string) bool {
	if _, err := os.Stat(filepath.Join(p.Root, IncludeName)); err == nil {
		return false
	}
	files, err := p.Repo.WorkFiles(ctx)
	return err == nil && slices.Contains(files, name)
}

// hasProgram reports whether a word starts something where commands run; true if that can't be found out.
func (p *Project) hasProgram(ctx context.Context, word string) (there bool, err error) {
	look := func(ctx context.Context, exec process.Executor) error {
		result, err := exec.Exec(ctx, process.Command{Args: []string{"sh", "-c", findProgram, "sh", word}, Env: p.Variables(), Total: lookWait, OutputLimit: 4 << 10})
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

// firstProgram is the program that a line for sh starts, if that is clear without parsing it as a shell does.
func firstProgram(line string) (word string, ok bool) {
	for _, word = range strings.Fields(line) {
		name, _, assigned := strings.Cut(word, "=")
		if assigned && !strings.ContainsAny(name, "/.-") {
			continue
		}
		return word, !strings.ContainsAny(word, "$`\"'(){}|&;<>*?[]~\\!#")
	}
	return "", false
}
