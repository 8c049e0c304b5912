package environment

import (
	"testing"

	"signalbox/internal/process"
)

// What tools print where our proxy refuses a host, or where there is no network.
const (
	curlRefused = "curl: (22) The requested URL returned error: 403\n"
	pipRefused  = "WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by 'ProxyError('Cannot connect to proxy.', " +
		"OSError('Tunnel connection failed: 403 blocked: example.org is not in environment.allow'))': /simple/six/\n" +
		"ERROR: Could not find a version that satisfies the requirement six (from versions: none)\nERROR: No matching distribution found for six\n"
	gitUnreached = "fatal: unable to access 'https://example.org/x.git/': Could not resolve host: example.org\n"
	compiling    = "x.c:1: error: no y\n"
	told         = "signalbox: blocked: example.org (environment.allow)\n"
)

func TestWhatTheConfigurationClosedIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	const allow, none = "blocked: example.org (environment.allow): ", "commands reach no network (environment.network: none): "
	for _, c := range []struct {
		name, output string
		offline      bool
		class, why   string
	}{
		{"a refused host is named", curlRefused + told, false, Fixable, allow + curlRefused[:len(curlRefused)-1]},
		{"also where the tool takes the proxy for a network in trouble", pipRefused + told, false, Fixable, allow + "connection broken by 'ProxyError"},
		{"and named once", curlRefused + told + told + "signalbox: blocked: 10.0.0.7:5432 (environment.allow)\n", false, Fixable,
			"blocked: example.org, 10.0.0.7:5432 (environment.allow): curl"},
		{"and as the one thing that is known of a silent tool", told, false, Fixable, "blocked: example.org (environment.allow)"},
		{"another cause stays what it is", "No space left on device\n" + told, false, Fatal, allow + "No space left"},
		{"a network that is down is waited for", gitUnreached, false, Network, "fatal: unable"},
		{"unless there is none", gitUnreached, true, Fatal, none + "fatal: unable"},
		{"what has nothing to do with it is as ever", compiling, true, Fixable, "x.c:1: error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Judge(process.Result{ExitCode: 1, Ending: process.Exited}, c.output, c.offline)
			if got.Class != c.class || len(got.Reason) < len(c.why) || got.Reason[:len(c.why)] != c.why {
				t.Errorf("%+v, want %s, %q", got, c.class, c.why)
			}
		})
	}
}
