package agent

import (
	"fmt"
	"strings"

	"signalbox/internal/lazy"
	"signalbox/internal/process"
)

// Exit codes with which shells, env and wrappers report that a program may not be run, and that it does not exist.
const (
	exitNotRun   = 126
	exitNotFound = 127
)

// notStarted reports whether a program, or one that starts it, was missing or not executable. The task was not attempted, and another attempt would
// end the same way.
func notStarted(end process.Result) bool {
	return end.Ending == process.Exited && end.Signal == "" && (end.ExitCode == exitNotRun || end.ExitCode == exitNotFound)
}

// unseen returns the failure of a program that could not be run. said is the reason, as far as it was printed.
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

// complaint finds the program's name in a message that it can't be run.
var complaint = lazy.Pattern(`([^\s:'"‘’“”]+)['"’”]?: (?:command not found|not found|No such file or directory|Permission denied|bad interpreter|cannot execute)`)

// missing returns where this machine has the program, or its interpreter, outside of what every environment has; empty if nowhere.
func (p Program) missing(name string) string {
	if strings.Contains(name, "/") && !strings.HasPrefix(name, "/") {
		return "" // below the work folder, which isn't on this machine
	}
	path, err := Program{Agent: p.Agent, Args: []string{name}, Env: p.Env}.Find()
	if err != nil {
		return ""
	}
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
