package environment

import (
	"slices"
	"strings"

	"signalbox/internal/lazy"
	"signalbox/internal/process"
)

// Failure is the judgement on a failed command.
type Failure struct {
	// Class is one of the classes above Classify.
	Class string
	// Reason is one line for people and models, as untrusted as the output; empty if the command printed
	// nothing. It names the setting to change if one of ours stopped the command.
	Reason string
}

// Judge judges a failed command whose network may be closed on purpose. Waiting opens no network. A host
// that isn't allowed may have a substitute in a registry, so another command could succeed; without any
// network (offline) only a person can help. Setup commands and their verifications go through it.
func Judge(r process.Result, output string, offline bool) Failure {
	var hosts []string
	for _, found := range blocked().FindAllStringSubmatch(output, -1) {
		if !slices.Contains(hosts, found[1]) {
			hosts = append(hosts, found[1])
		}
	}
	output = blocked().ReplaceAllLiteralString(output, "")
	f := Failure{Classify(r, output), Reason(r, output)}
	if r.Ending == process.NoMemory {
		f.Reason = "" // these are the shell's words, or older ones of the tool
	}
	unreached := f.Class == Network || f.Class == Server
	switch {
	case len(hosts) > 0:
		if unreached {
			f.Class = Fixable
		}
		f.because("blocked: " + strings.Join(hosts, ", ") + " (environment.allow)")
	case offline && (f.Class == Network || r.Ending == process.TimedOut):
		if f.Class == Network {
			f.Class = Fatal
		}
		f.because("commands reach no network (environment.network: none)")
	}
	f.Reason = strings.TrimSpace(f.Reason + remedy(r, f.Reason))
	return f
}

var (
	noProgram = lazy.Pattern(`: (?:command )?not found$|executable file not found`)
	noRoot    = lazy.Pattern(`(?i)are you root|must be (?:run as )?root|superuser|sudo: |read-only file system`)
)

// remedy returns advice for people if the environment's own limits stopped the command.
func remedy(r process.Result, reason string) string {
	switch {
	case r.Ending == process.NoMemory:
		return " raise environment.memory, if it is set"
	case r.Ending == process.TimedOut:
		return " (limits.set_up_total is its time limit)"
	case noRoot().MatchString(reason):
		return " (the system cannot be changed from inside: install below HOME or the project, or add it to the image)"
	case noProgram().MatchString(reason):
		return " (commands get the programs of this machine or of the image)"
	case reason == "" && r.ExitCode < 128:
		return " it printed nothing; if it asked a question, no one answers"
	}
	return ""
}

// because puts the effect of our own settings before the tool's words, which name only the symptom.
func (f *Failure) because(settings string) {
	if f.Reason != "" {
		settings += ": " + f.Reason
	}
	f.Reason = settings
}

// blocked matches the line that drivers add to a command's standard error for each host that the
// configuration refused. Commands can forge it; that only changes their own advice.
var blocked = lazy.Pattern(`(?m)^signalbox: blocked: (\S{1,260}) \(environment\.allow\)\n?`)
