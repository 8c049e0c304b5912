package wire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/commandline"
	"signalbox/internal/config"
	"signalbox/internal/lazy"
)

// FileError says why a run can't use a file of the project.
type FileError struct {
	// Says is what is wrong, Next what to type about it; empty if it is not about the file.
	Says, Next string
	// Broken: what is there can prove nothing, so no setup helps.
	Broken bool
}

// FileProblem says why a run into base can't start a file of the project, or have the interpreter by run it; nil if it can. It starts
// nothing of the project.
func (p *Project) FileProblem(ctx context.Context, base, name, by string) *FileError {
	f, known := p.find(ctx, base, name)
	if !known {
		return nil
	}
	word, on := commandline.ShellWord(f.name), ""
	if f.committed {
		on = "on " + base + " "
	}
	correct := "correct " + word + ", and commit that"
	shell := cmp.Or(by, path.Base(slices.Concat(agent.Interpreter(f.content), []string{"sh"})[0]))
	isShell := slices.Contains(shells, shell)
	switch {
	case f.gone:
		return &FileError{Says: "is not in the project"}
	case f.folder && isShell: // python runs a folder, and dash takes one for an empty script
		return &FileError{Says: "is a folder", Broken: true}
	case f.folder:
		return nil
	case by == "" && !f.executable:
		return &FileError{Says: strings.TrimSpace("isn't executable " + on),
			Next: "chmod +x " + word + " && git add " + word + " && git commit -m 'Make it executable'; or start it with its shell: sh " + word}
	case f.onlyHere:
		return &FileError{Says: "isn't committed on " + base + ", so no run has it", Next: "git add " + word + " && git commit"}
	case len(f.content) == maxScript, bytes.IndexByte(f.content, 0) >= 0: // not a script that people write
		return nil
	case !anyCode().Match(f.content):
		return &FileError{Says: on + "has nothing in it that could run", Next: correct, Broken: true}
	}
	first, _, _ := bytes.Cut(f.content, []byte("\n"))
	if bytes.HasSuffix(first, []byte("\r")) && (isShell || by == "" && bytes.HasPrefix(first, []byte("#!"))) {
		return &FileError{Says: on + "has the line ends of Windows (CRLF), which no shell takes", Broken: true,
			Next: "sed -i 's/\\r$//' " + word + " && git commit -m 'Take the line ends of Unix' " + word}
	}
	if parser := agent.Parser(shell); parser != "" {
		try := []string{parser}
		if p.Config.Environment.Driver == config.DriverContainer { // an image's sh may be any shell
			try = []string{agent.Parser("bash"), parser}
		}
		if says := p.syntaxOf(ctx, try, string(f.content)); says != "" {
			return &FileError{Says: on + "can't be read by " + shell + ": " + shellPlace().ReplaceAllString(says, "line $1: "), Next: correct, Broken: true}
		}
	}
	return nil
}

// anyCode finds a line that is more than a comment.
var anyCode = lazy.Pattern(`(?m)^\s*[^\s#]`)

// found is what a run into base finds under a name: what is committed there or, if git has none, what the work tree has.
type found struct {
	name                     string
	gone, folder, executable bool
	// committed: it is as base has it. onlyHere: it reaches no environment.
	committed, onlyHere bool
	content             []byte
}

// maxScript is how much of a script is read, in bytes.
const maxScript = 1 << 20

// find returns what a run finds; known is false if that is unclear: the name leads out of the project, or it's a link.
func (p *Project) find(ctx context.Context, base, name string) (f found, known bool) {
	f.name = path.Clean(filepath.ToSlash(name))
	if !filepath.IsLocal(f.name) {
		return f, false
	}
	if at, err := p.Repo.Resolve(ctx, "refs/heads/"+base); err == nil { // otherwise it is reported elsewhere
		files, err := p.Repo.TreeFiles(ctx, at, f.name)
		if err != nil {
			return f, false
		}
		if f.committed = len(files) > 0; f.committed {
			if f.folder = files[0].Path != f.name; f.folder {
				return f, true
			}
			f.executable = files[0].Executable
			f.content, err = p.Repo.ReadBlob(ctx, at, f.name, maxScript)
			return f, err == nil
		}
		f.onlyHere = p.onlyHere(ctx, f.name)
	}
	file := filepath.Join(p.Root, f.name)
	info, err := os.Lstat(file)
	if f.gone = errors.Is(err, fs.ErrNotExist); f.gone {
		return f, true
	}
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return f, false
	}
	if f.folder, f.executable = info.IsDir(), info.Mode()&0o111 != 0; f.folder {
		return f, true
	}
	opened, err := os.Open(file)
	if err != nil {
		return f, false
	}
	defer func() { _ = opened.Close() }()
	f.content, err = io.ReadAll(io.LimitReader(opened, maxScript))
	return f, err == nil
}

// onlyHere reports whether a file of the work tree reaches no environment: git neither has it nor ignores it, and nothing else copies it.
func (p *Project) onlyHere(ctx context.Context, name string) bool {
	if _, err := os.Stat(filepath.Join(p.Root, IncludeName)); err == nil {
		return false
	}
	files, err := p.Repo.WorkFiles(ctx)
	return err == nil && slices.Contains(files, name)
}

// interpreterFor is the program that the first line of a script names; empty if none, or if it's unclear which.
func (p *Project) interpreterFor(ctx context.Context, base, name string) string {
	f, known := p.find(ctx, base, name)
	words := agent.Interpreter(f.content)
	if !known || len(words) == 0 || !plainWord(words[0]) || strings.Contains(words[0], "=") || strings.Contains(words[0], "/") && !filepath.IsAbs(words[0]) {
		return ""
	}
	return words[0]
}

// shells are the interpreters whose scripts are for a shell. interpreters are those whose first argument is the script to run, unless
// it is an option.
var (
	shells       = []string{"sh", "bash", "dash", "zsh"}
	interpreters = slices.Concat(shells, []string{"python", "python3", "node", "bun", "ruby", "perl", "php"})
)

// shellFlags are options of a shell before its script that take no argument.
var shellFlags = lazy.Pattern(`^-[abefhuvxE]+$`)

// scriptAmong is the script in the project that words start by its interpreter, as in "sh agent.sh"; empty if there is none.
func scriptAmong(words []string) string {
	by := filepath.Base(words[0])
	if !slices.Contains(interpreters, by) {
		return ""
	}
	for _, word := range words[1:] {
		switch {
		case slices.Contains(shells, by) && shellFlags().MatchString(word):
			continue
		case word == "" || word[0] == '-' || !plainWord(word) || filepath.IsAbs(word):
			return ""
		case (by == "node" || by == "bun") && filepath.Ext(word) == "": // a folder, a command, or a name that they complete
			return ""
		}
		return word
	}
	return ""
}
