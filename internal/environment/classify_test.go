package environment

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"signalbox/internal/process"
)

// capture is a failure of a real tool: testdata/failures holds what it printed
// below two lines that say what Signalbox makes of it.
type capture struct {
	name, class, reason, output string
	exit                        int
}

var header = regexp.MustCompile(`^# class: (network|server|lock|fixable|fatal)  exit: (\d+)  tool: \S.*  how: \S.*\n# reason: (.*)\n`)

func captures(t *testing.T) (all []capture) {
	t.Helper()
	files, err := filepath.Glob("testdata/failures/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := header.FindStringSubmatch(string(text))
		if found == nil {
			t.Fatalf("%s begins with %.200q", file, text)
		}
		c := capture{name: strings.TrimSuffix(filepath.Base(file), ".txt"), class: found[1], reason: found[3], output: string(text[len(found[0]):])}
		if _, err := fmt.Sscan(found[2], &c.exit); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

func (c capture) result() process.Result {
	return process.Result{ExitCode: c.exit, Ending: process.Exited}
}

func TestRealFailuresAreClassifiedAndTheirReasonIsFound(t *testing.T) {
	t.Parallel()
	all := captures(t)
	if len(all) < 200 {
		t.Fatalf("only %d captures found", len(all))
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Classify(c.result(), c.output); got != c.class {
				t.Errorf("class %s, want %s:\n%s", got, c.class, c.output)
			}
			if got := Reason(c.result(), c.output); got != c.reason {
				t.Errorf("reason %q, want %q", got, c.reason)
			}
		})
	}
}

func TestTheLastThingSaidDecides(t *testing.T) {
	t.Parallel()
	const (
		refused = "curl: (7) Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server\n"
		wrong   = "npm error 404 Not Found - GET https://registry.npmjs.org/reqests\n"
		retried = " WARN  GET https://registry.npmjs.org/six error (ECONNRESET). Will retry in 10 seconds. 2 retries left.\n"
	)
	for _, c := range []struct{ name, output, class, reason string }{
		{"nothing was printed", "", Fixable, ""},
		{"an error after another", refused + wrong, Fixable, strings.TrimPrefix(wrong, "npm error ")},
		{"the other way round", wrong + refused, Network, refused},
		{"a retry that was followed by another error", retried + "error TS2307: Cannot find module 'six'\n", Fixable, "error TS2307: Cannot find module 'six'"},
		{"a retry that nothing followed", retried, Network, retried},
		{"a retry that was followed by a known error", retried + wrong, Fixable, strings.TrimPrefix(wrong, "npm error ")},
		{"what came of a cause", refused + "tar: x.tgz: Cannot open: No such file or directory\n", Network, refused},
		{"a trouble that scrolled by", refused + strings.Repeat("compiling\n", lookBack) + "x.c:1: error: no y\n", Fixable, "x.c:1: error: no y"},
		{"a trouble above a stack trace", refused + strings.Repeat("    at x.y(z.js:1:1)\n", 10*lookBack), Network, refused},
		{"progress that is written over", "downloading 1 %\rdownloading 2 %\r" + refused, Network, refused},
		{"colours", "\x1b[1;31mERROR\x1b[0m: 503 Service \x1b[1mUnavailable\n", Server, "ERROR: 503 Service Unavailable"},
		{"a package that is called like an error", "npm error 404 'enotfound@1' is not in this registry\nnpm error 404 Not Found - GET https://registry.npmjs.org/enotfound\n", Fixable,
			"404 Not Found - GET https://registry.npmjs.org/enotfound"},
		{"a page of a server in trouble", "Error: expected JSON, got <h1>502 Bad Gateway</h1>\n", Server, "Error: expected JSON, got <h1>502 Bad Gateway</h1>"},
		{"a number that is no status", "FAIL: got 503 rows, want 200\n", Fixable, "FAIL: got 503 rows, want 200"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := process.Result{ExitCode: 1, Ending: process.Exited}
			if got := Classify(r, c.output); got != c.class {
				t.Errorf("class %s, want %s", got, c.class)
			}
			if got := Reason(r, c.output); got != strings.TrimSpace(c.reason) {
				t.Errorf("reason %q, want %q", got, c.reason)
			}
		})
	}
}

func TestTheEndOfACommandIsPartOfItsClass(t *testing.T) {
	t.Parallel()
	const waiting = "Blocking waiting for file lock on package cache\n"
	for _, c := range []struct {
		name, output, class string
		result              process.Result
	}{
		{"killed for its memory", "", Fatal, process.Result{ExitCode: -1, Signal: "SIGKILL", Ending: process.NoMemory}},
		{"killed by the kernel", "", Fatal, process.Result{ExitCode: -1, Signal: "SIGKILL", Ending: process.Exited}},
		{"killed inside a sandbox", "", Fatal, process.Result{ExitCode: 137, Ending: process.Exited}},
		{"ended by us while it waited for a lock", waiting, Lock, process.Result{ExitCode: -1, Signal: "SIGKILL", Ending: process.TimedOut}},
		{"ended by us while it said nothing", "", Fixable, process.Result{ExitCode: 137, Ending: process.Idled}},
		{"done with waiting for the lock", waiting + "error: could not compile `x`\n", Fixable, process.Result{ExitCode: 101, Ending: process.Exited}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Classify(c.result, c.output); got != c.class {
				t.Errorf("class %s, want %s", got, c.class)
			}
		})
	}
}

func TestALongReasonKeepsItsEnd(t *testing.T) {
	t.Parallel()
	got := Reason(process.Result{ExitCode: 1}, "Could not transfer artifact "+strings.Repeat("äöü/", 200)+": Connection refused")
	if n := len([]rune(got)); n > reasonLength+3 || !strings.HasSuffix(got, "Connection refused") || !strings.HasPrefix(got, "Could not transfer") {
		t.Errorf("%d runes: %q", n, got)
	}
}
