package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"signalbox/internal/lazy"
	"signalbox/internal/process"
)

// Find looks up the program on this machine, in the PATH of Env or, without one, in Signalbox's own, which environments inherit. Relative folders of
// PATH are skipped: in the repository they would name the repository's programs. The error wraps fs.ErrNotExist if there is no such program.
func (p Program) Find() (string, error) {
	name := p.Args[0]
	if strings.Contains(name, "/") {
		return name, executable(name)
	}
	path := os.Getenv("PATH")
	for _, variable := range p.Env {
		if value, ok := strings.CutPrefix(variable, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if filepath.IsAbs(file) && executable(file) == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("find program %q of agent %q in PATH: %w", name, p.Agent, fs.ErrNotExist)
}

// executable returns an error unless file is a regular file that someone may execute. Whether this user may is seen at the start.
func executable(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("find program: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("find program %s: %w", file, ErrNotExecutable)
	}
	return nil
}

// ErrNotExecutable: the file is a folder, or lacks the permission to be run.
var ErrNotExecutable = errors.New("is not an executable file")

// Exit codes with which shells, env and wrappers report that a program may not be run, and that it does not exist (POSIX, "Exit Status for
// Commands"). A sandbox starts its own program first, so this is how a missing one shows there.
const (
	exitNotRun   = 126
	exitNotFound = 127
)

// notStarted reports whether a program, or one that starts it, was missing or not executable. The task was not attempted, and another attempt would
// end the same way.
func notStarted(end process.Result) bool {
	return end.Ending == process.Exited && end.Signal == "" && (end.ExitCode == exitNotRun || end.ExitCode == exitNotFound)
}

// unseen returns the failure of a program that could not be run. said is the reason, as far as it was printed. The message says what a person can do:
// install the program where it runs, or show the file that this machine has.
func (p Program) unseen(said string) *Failure {
	name, found := p.Args[0], complaint().FindStringSubmatch(said)
	why := said
	if found != nil {
		name = found[1]
	}
	if found != nil || said == "" {
		why = fmt.Sprintf("%q is not found where it runs: install it there", name)
		if path := p.missing(name); path != "" {
			why = path + " is not seen where it runs: name it, or its folder, in environment.read"
		}
		if said != "" {
			why += " (" + said + ")"
		}
	}
	return Fail(Unavailable, "program %q of agent %q cannot be started: %s", p.Args[0], p.Agent, why)
}

// complaint finds the program's name in a message that it can't be run: those of sh, bash, dash, env and the kernel. The name may be that of a
// script's interpreter.
var complaint = lazy.Pattern(`([^\s:'"‘’“”]+)['"’”]?: (?:command not found|not found|No such file or directory|Permission denied|bad interpreter|cannot execute)`)

// missing returns where this machine has the program, or its interpreter, outside of what every environment has; empty if nowhere. Such a file exists
// and is only not shown to the sandbox, which a person can change in the configuration.
func (p Program) missing(name string) string {
	if strings.Contains(name, "/") && !strings.HasPrefix(name, "/") {
		return "" // below the work folder, which isn't on this machine
	}
	path, err := Program{Agent: p.Agent, Args: []string{name}, Env: p.Env}.Find()
	if err != nil {
		return ""
	}
	// Of a script it is usually the interpreter that is not shown.
	if words, err := interpreterOf(path); err == nil && len(words) > 0 {
		if by, err := (Program{Agent: p.Agent, Args: words, Env: p.Env}).Find(); err == nil && !ofSystem(by) {
			return by
		}
	}
	if ofSystem(path) {
		return ""
	}
	return path
}
