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
	unreached := f.Class == Network || f.Class == Server
	switch {
	case len(hosts) > 0:
		if unreached {
			f.Class = Fixable
		}
		f.because("blocked: " + strings.Join(hosts, ", ") + " (environment.allow)")
	case offline && f.Class == Network:
		f.Class = Fatal
		f.because("commands reach no network (environment.network: none)")
	}
	return f
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
