package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// gate is where the programs of a project stand still until it opens: they read
// a pipe that nobody writes to. While they do they ignore SIGTERM, and a daemon
// of theirs in a session of its own does too.
type gate struct {
	t    testing.TB
	path string
	hold *os.File
}

func newGate(t testing.TB) *gate {
	t.Helper()
	g := &gate{t: t, path: filepath.Join(t.TempDir(), "gate")}
	if err := unix.Mkfifo(g.path, 0o666); err != nil {
		t.Fatal(err)
	}
	var err error
	if g.hold, err = os.OpenFile(g.path, os.O_RDWR, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.hold.Close() })
	return g
}

// open lets everybody pass, now and later.
func (g *gate) open() {
	g.t.Helper()
	if err := os.Remove(g.path); err != nil {
		g.t.Fatal(err)
	}
	if err := g.hold.Close(); err != nil {
		g.t.Fatal(err)
	}
}

// pass is a line of shell that goes through the gate, without a quotation mark.
func (g *gate) pass() string {
	return fmt.Sprintf(`if test -e %[1]s; then echo standing still; trap : TERM; setsid sh -c "trap : TERM; while true; do sleep 999; done" & cat %[1]s; fi; `, g.path)
}

// gatedProject has the gate before every call of the implementer, or in every
// test command, or nowhere.
func gatedProject(t testing.TB, n int, g *gate, changes ...string) *project {
	t.Helper()
	read := fmt.Sprintf("environment: {read: [%s]}\napprove: ", filepath.Dir(g.path))
	return newProject(t, n, append([]string{"approve: ", read}, changes...)...)
}

// beforeImplementer is a project whose runs stand still before each call of the implementer.
func beforeImplementer(t testing.TB, n int) (*gate, *project) {
	t.Helper()
	g := newGate(t)
	return g, gatedProject(t, n, g, g.beforeImplementer()...)
}

func (g *gate) beforeImplementer() []string {
	return []string{"step: S01, do: [{run: [sh, -c, '", "step: S01, do: [{run: [sh, -c, '" + g.pass()}
}

func (g *gate) inTests() []string {
	return []string{"tests: [", "tests: ['" + strings.ReplaceAll(g.pass(), "'", "''"), "done]", "done']"}
}

// standsStill reports whether a program of the request waits at the gate.
func (p *project) standsStill(n int) bool { return p.stoodStill(n) > 0 }

// stoodStill is how many programs of the request ever came to the gate.
func (p *project) stoodStill(n int) (times int) {
	p.Helper()
	logs, err := filepath.Glob(filepath.Join(p.dir, "runs", fmt.Sprintf("RQ-20260101-%03d", n), "*", "logs", "*"))
	if err != nil {
		p.Fatal(err)
	}
	for _, path := range logs {
		data, _ := os.ReadFile(path)
		times += strings.Count("\n"+string(data), "\nstanding still\n")
	}
	return times
}

// startStandingStill starts a run and returns when it waits at the gate.
func (p *project) startStandingStill(n int, flags ...string) *child {
	p.Helper()
	return p.startUntilStandingStill(n, append([]string{"run", fmt.Sprint(n)}, flags...)...)
}

// startUntilStandingStill starts a command and returns when the request comes to the gate, again if it did before.
func (p *project) startUntilStandingStill(n int, args ...string) *child {
	p.Helper()
	before := p.stoodStill(n)
	c := p.start(args...)
	if !c.until(func() bool { return p.stoodStill(n) > before }) {
		p.Fatalf("it ended before the gate:\n%s", c.out)
	}
	return c
}
