// Package environmenttest owns the conformance suite of the environment port. Every driver passes it against real git and real
// processes. Drivers that say they isolate also pass the tests of isolation.
package environmenttest

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"signalbox/internal/environment"
	"signalbox/internal/environment/egress"
	"signalbox/internal/process"
)

// Harness is a driver under test and the project it works for.
type Harness struct {
	// Driver was made with Variables as its allow-list.
	Driver  environment.Driver
	Project *Project
	// Isolated: commands cannot see or change this machine.
	Isolated bool
	// OwnSystem: commands see system folders that are not this machine's.
	OwnSystem bool
	// Connected makes a driver like Driver whose commands have this network access; nil if the driver offers no choice.
	Connected func(t *testing.T, network string, policy egress.Policy) environment.Driver
	// Keeps: the next environment starts with the snapshot of the last.
	Keeps bool
	// Folder returns a path of an environment's work folder for this process; nil means its place in the project.
	Folder func(*testing.T, environment.Environment) string
	// Unmoving: folders of a snapshot can't be renamed, only copied.
	Unmoving bool
	// Sample: each run tries another quarter of the many things that a command can do to git. Git reacts the same in every
	// way of a driver, so one way tries all.
	Sample bool
}

// quarter selects the sampled cases of this run.
var quarter = rand.IntN(4)

// sampled returns the cases of a table that this run tries.
func (h Harness) sampled(table map[string]string) map[string]string {
	if !h.Sample {
		return table
	}
	tried := map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(table)) {
		if i%4 == quarter {
			tried[name] = table[name]
		}
	}
	return tried
}

// site is one environment in a test.
type site struct {
	Harness
	environment.Environment
	spec environment.Spec
}

type conformance struct {
	name string
	test func(*testing.T, *site)
}

// Part is a part of the suite.
type Part int

const (
	Whole   Part = iota // everything except Network
	Files               // all that reads or writes a file: for a way of a driver that only makes the folders in another manner
	New                 // Whole without Restore, which another variant runs
	Restore             // snapshots and restoring, for each way of a driver to do it
	Network             // for drivers whose harness has Connected
)

// Run runs a part of the suite; open makes a harness of its own for each test.
func Run(t *testing.T, part Part, open func(t *testing.T) Harness) {
	cases := map[Part][]conformance{
		Whole:   slices.Concat(commandTests, recordTests, workTests, restoreTests),
		Files:   slices.Concat(recordTests, workTests, restoreTests, hiddenTests),
		New:     slices.Concat(commandTests, recordTests, workTests, hiddenTests, isolationTests),
		Restore: restoreTests,
		Network: networkTests,
	}
	if part == Whole && open(t).Isolated {
		cases[Whole] = slices.Concat(cases[Whole], hiddenTests, isolationTests)
	}
	for _, c := range cases[part] {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := open(t)
			s := &site{Harness: h, spec: h.Project.Spec("site")}
			s.Environment = s.make(t, s.spec)
			c.test(t, s)
		})
	}
}

func (s *site) make(t *testing.T, spec environment.Spec) environment.Environment {
	t.Helper()
	e, err := s.Driver.Make(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() {
		if err := s.Driver.Remove(ctx, spec); err != nil {
			t.Error(err)
		}
	})
	return e
}

// another returns a second environment of the same project.
func (s *site) another(t *testing.T, id string) *site {
	t.Helper()
	other := &site{Harness: s.Harness, spec: s.Project.Spec(id)}
	other.Environment = other.make(t, other.spec)
	return other
}

// folder returns the work folder's place in the project.
func (s *site) folder() string { return filepath.Join(s.Project.Root, s.spec.Dir) }

// found returns a path by which this process finds the work folder of an environment.
func (s *site) found(t *testing.T, e environment.Environment, spec environment.Spec) string {
	t.Helper()
	if s.Folder == nil {
		return filepath.Join(s.Project.Root, spec.Dir)
	}
	return s.Folder(t, e)
}

// run runs a shell script inside; args are its $1, $2 and so on.
func (s *site) run(t *testing.T, script string, args ...string) (process.Result, string) {
	t.Helper()
	var printed bytes.Buffer
	r, err := s.Exec(t.Context(), process.Command{
		Args:   append([]string{"sh", "-c", script, "sh"}, args...),
		Stdout: &printed, Stderr: &printed,
	})
	if err != nil {
		t.Fatalf("run %q: %v", script, err)
	}
	return r, printed.String()
}

// must runs a script that has to succeed and returns its output.
func (s *site) must(t *testing.T, script string, args ...string) string {
	t.Helper()
	r, printed := s.run(t, script, args...)
	if !r.OK() {
		t.Fatalf("script %q ended with %d (%s): %s", script, r.ExitCode, r.Ending, printed)
	}
	return printed
}

func (s *site) record(t *testing.T, parent string) environment.Change {
	t.Helper()
	change, err := s.Record(t.Context(), parent, "work\n")
	if err != nil {
		t.Fatal(err)
	}
	return change
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Killed reports whether c, which performs an operation and kills itself at some point, was killed. If it wasn't, it must have
// succeeded.
func Killed(t *testing.T, operation string, at int, c *exec.Cmd) bool {
	t.Helper()
	said, err := c.CombinedOutput()
	if err == nil {
		return false
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("%s killed at %d: %v: %s", operation, at, err, said)
	}
	return true
}
