package environment

import (
	"testing"

	"signalbox/internal/process"
)

// Output of tools whose host our proxy refuses, or without a network.
const (
	curlRefused = "curl: (22) The requested URL returned error: 403\n"
	pipRefused  = "WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by 'ProxyError('Cannot connect to proxy.', " +
		"OSError('Tunnel connection failed: 403 blocked: example.org is not in environment.allow'))': /simple/six/\n" +
		"ERROR: Could not find a version that satisfies the requirement six (from versions: none)\nERROR: No matching distribution found for six\n"
	gitUnreached = "fatal: unable to access 'https://example.org/x.git/': Could not resolve host: example.org\n"
	compiling    = "x.c:1: error: no y\n"
	told         = "signalbox: blocked: example.org (environment.allow)\n"
)

func TestAHostTheConfigurationClosedIsNotRetried(t *testing.T) {
	t.Parallel()
	const allow, none = "blocked: example.org (environment.allow): ", "commands reach no network (environment.network: none): "
	for _, c := range []struct {
		name, output string
		offline      bool
		class, why   string
	}{
		{"a refused host is named", curlRefused + told, false, Fixable, allow + curlRefused[:len(curlRefused)-1]},
		{"even if the tool takes the proxy for a network in trouble", pipRefused + told, false, Fixable, allow + "connection broken by 'ProxyError"},
		{"and named once", curlRefused + told + told + "signalbox: blocked: 10.0.0.7:5432 (environment.allow)\n", false, Fixable,
			"blocked: example.org, 10.0.0.7:5432 (environment.allow): curl"},
		{"and is all that is known of a silent tool", told, false, Fixable, "blocked: example.org (environment.allow)"},
		{"another cause keeps its class", "No space left on device\n" + told, false, Fatal, allow + "No space left"},
		{"a network that is down is waited for", gitUnreached, false, Network, "fatal: unable"},
		{"unless there is none", gitUnreached, true, Fatal, none + "fatal: unable"},
		{"as far as is known of a tool that said nothing in its time", "", true, Fixable, "commands reach no network (environment.network: none) (limits.set_up_total"},
		{"what has nothing to do with it is as ever", compiling, true, Fixable, "x.c:1: error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			result := process.Result{ExitCode: 1, Ending: process.Exited}
			if c.output == "" {
				result.Ending = process.TimedOut
			}
			got := Judge(result, c.output, c.offline)
			if got.Class != c.class || len(got.Reason) < len(c.why) || got.Reason[:len(c.why)] != c.why {
				t.Errorf("%+v, want %s, %q", got, c.class, c.why)
			}
		})
	}
}

func TestAReasonSaysHowToGetPastTheEnvironmentsLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, output, want string
		ending             process.Ending
	}{
		{"a program that is missing", "signalbox: line 12: cargo: command not found\n", "cargo: command not found (commands get the programs of this machine or of the image)", process.Exited},
		{"the same without bash", "signalbox: 12: eval: cargo: not found\n", "cargo: not found (commands get the programs of this machine or of the image)", process.Exited},
		{"sudo", "signalbox: line 12: sudo: command not found\n", "sudo: command not found (the system cannot be changed from inside: install below HOME or the project, or add it to the image)", process.Exited},
		{"a question", "", "it printed nothing; if it asked a question, no one answers", process.Exited},
		{"memory", "signalbox: line 12:  3 Killed  cc\n", "raise environment.memory, if it is set", process.NoMemory},
		{"time", "compiling\n", "compiling (limits.set_up_total is its time limit)", process.TimedOut},
		{"an error of its own", "x.c:1: error: no y\n", "x.c:1: error: no y", process.Exited},
	} {
		if got := Judge(process.Result{ExitCode: 1, Ending: c.ending}, c.output, false).Reason; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
