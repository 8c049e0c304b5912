package agent

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"signalbox/internal/process"
)

// How shells, env and wrappers say that a program may not be run, and that there is none.
const (
	exitNotRun   = 126
	exitNotFound = 127
)

// notStarted reports whether a program, or one that it is started by, was not found or could not be run.
// No attempt at the task was made, and another one would end alike.
func notStarted(end process.Result) bool {
	return end.Ending == process.Exited && end.Signal == "" && (end.ExitCode == exitNotRun || end.ExitCode == exitNotFound)
}

// unseen is the failure of a program that could not be run. Said is why, as far as anybody said it.
func (p Program) unseen(said string) *Failure {
	name, found := p.Args[0], complaint().FindStringSubmatch(said)
	why := said
	if found != nil {
		name = found[1]
	}
	if found != nil || said == "" {
		why = p.remedy(name)
		if said != "" {
			why += " (" + said + ")"
		}
	}
	return Fail(Unavailable, "program %q of agent %q cannot be started: %s", p.Args[0], p.Agent, why)
}

// remedy is what to do for a program to be found.
func (p Program) remedy(name string) string {
	if path := p.missing(name); path != "" {
		return path + " is not seen where it runs: name it, or its folder, in environment.read"
	}
	return fmt.Sprintf("%q is not found where it runs: install it there", name)
}

// complaint finds the program's name in what is said of one that cannot be run.
var complaint = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([^\s:'"‘’“”]+)['"’”]?: (?:command not found|not found|No such file or directory|Permission denied|bad interpreter|cannot execute)`)
})

// missing is where this machine has the program, or the interpreter that it names, outside of what
// every environment has; empty if that is nowhere.
func (p Program) missing(name string) string {
	if strings.Contains(name, "/") && !strings.HasPrefix(name, "/") {
		return "" // below the work folder, which is not here
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
