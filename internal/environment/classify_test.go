package environment

import (
	"testing"

	"signalbox/internal/process"
)

func TestAFailedCommandIsClassifiedByWhatItsToolSays(t *testing.T) {
	t.Parallel()
	exited := process.Result{ExitCode: 1, Ending: process.Exited}
	for _, c := range []struct{ output, want string }{
		{"curl: (6) Could not resolve host: example.org", Network},
		{"npm ERR! code ECONNRESET", Network},
		{"dial tcp: lookup proxy.example.org: no such host", Network},
		{"503 Server Error: Service Unavailable for url: https://example.org/simple/", Server},
		{"E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 812 (apt-get)", Lock},
		{"OSError: [Errno 28] No space left on device", Fatal},
		{"ERROR: No matching distribution found for reqests", Fixable},
		{"npm ERR! ERESOLVE unable to resolve dependency tree", Fixable},
		{"", Fixable},
	} {
		if got := Classify(exited, c.output); got != c.want {
			t.Errorf("%q: %s, want %s", c.output, got, c.want)
		}
	}
	if got := Classify(process.Result{ExitCode: -1, Signal: "SIGKILL", Ending: process.NoMemory}, ""); got != Fatal {
		t.Errorf("out of memory: %s", got)
	}
}
