package environment

import (
	"slices"
	"strings"

	"signalbox/internal/process"
)

// Failure is what a failed command's end comes to.
type Failure struct {
	Class string
	// Reason is one line for people and models, as untrusted as the output; empty when nothing was printed.
	Reason string
}

// Judge says what a failed command's end comes to where the network may be closed on purpose.
// Waiting opens it for nobody: a host that is in no list may have a substitute in a registry, so
// another command could succeed; without any network (offline) only a person can help.
func Judge(r process.Result, output string, offline bool) Failure {
	output, hosts := withoutBlocked(output)
	f := Failure{Classify(r, output), Reason(r, output)}
	if r.Ending == process.NoMemory {
		f.Reason = "" // how the shell tells of it, or what the tool said before
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
	noProgram = lazyPattern(`: (?:command )?not found$|executable file not found`)
	noRoot    = lazyPattern(`(?i)are you root|must be (?:run as )?root|superuser|sudo: |read-only file system`)
)

// remedy is what a person who reads the reason can do, where what keeps the command from it is
// how environments are.
func remedy(r process.Result, reason string) string {
	switch {
	case r.Ending == process.NoMemory:
		return " raise environment.memory, if it is set"
	case r.Ending == process.TimedOut:
		return " (limits.set_up_total is how long it may take)"
	case noRoot.match(reason):
		return " (the system cannot be changed from inside: install below HOME or the project, or have it in the image)"
	case noProgram.match(reason):
		return " (commands get the programs of this machine or of the image)"
	case reason == "" && r.ExitCode < 128:
		return " it printed nothing; nobody answers what it may ask"
	}
	return ""
}

// because puts what our own settings did before what the tool made of it.
func (f *Failure) because(settings string) {
	if f.Reason != "" {
		settings += ": " + f.Reason
	}
	f.Reason = settings
}

// blocked is what drivers say, at the end of a command's standard error, of each host that the
// configuration kept the command from.
var blocked = lazyPattern(`(?m)^signalbox: blocked: (\S{1,260}) \(environment\.allow\)\n?`)

// withoutBlocked is the output without those lines, and the hosts.
func withoutBlocked(output string) (rest string, hosts []string) {
	for _, found := range blocked.pattern().FindAllStringSubmatch(output, -1) {
		if !slices.Contains(hosts, found[1]) {
			hosts = append(hosts, found[1])
		}
	}
	return blocked.pattern().ReplaceAllLiteralString(output, ""), hosts
}
