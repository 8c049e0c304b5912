package hostedtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/forgetest"
	"signalbox/internal/forge/local"
	"signalbox/internal/process"
)

// The test binary is also the process that is killed: these variables tell it what to do, where, and at which instant to die.
const (
	operationVariable = "SIGNALBOX_TEST_OPERATION"
	placeVariable     = "SIGNALBOX_TEST_PLACE"
	instantVariable   = "SIGNALBOX_TEST_INSTANT"
)

// Main is a package's TestMain. end removes what its stand-ins share.
func Main(m *testing.M, driver Driver, end func() error) {
	run := func() int {
		code := m.Run()
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		return code
	}
	// Kills between the changes on this machine are alike for all servers, and are tested with another.
	MainIn(run, func(ctx context.Context, p place, i *Instants) (forge.Forge, error) {
		return p.open(ctx, i.Host(func(args []string) bool { return slices.Contains(args, "push") }), i, driver, NoTests)
	})
}

// NoTests tests no candidate: what is killed tests none.
func NoTests(context.Context, local.Candidate) (local.Verdict, error) {
	return local.Verdict{}, errors.New("no tests are expected here")
}

// MainIn ends the process after run or, in a process that Kill started, after its operation, on the forge that is opened at Kill's place.
func MainIn[Place any](run func() int, open func(context.Context, Place, *Instants) (forge.Forge, error)) {
	if os.Getenv(operationVariable) == "" {
		os.Exit(run())
	}
	if err := performAndDie(open); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func performAndDie[Place any](open func(context.Context, Place, *Instants) (forge.Forge, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var operation forgetest.Operation
	var at Place
	var i Instants
	for name, value := range map[string]any{operationVariable: &operation, placeVariable: &at, instantVariable: &i.last} {
		if err := json.Unmarshal([]byte(os.Getenv(name)), value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	f, err := open(ctx, at, &i)
	if err != nil {
		return err
	}
	i.armed.Store(true)
	return operation.Perform(ctx, f)
}

// Instants are those at which something changes: right before and right after. At the last one, this process is killed, as by kill -9.
type Instants struct {
	armed  atomic.Bool
	passed atomic.Int64
	last   int64
}

func (i *Instants) pass() {
	if i.armed.Load() && i.passed.Add(1)-1 == i.last {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// RoundTrip has instants around each request that changes something.
func (i *Instants) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		i.pass()
		defer i.pass()
	}
	return http.DefaultTransport.RoundTrip(r)
}

// Host has instants around each command that changes something.
func (i *Instants) Host(changes func(args []string) bool) process.Executor {
	return host{instants: i, changes: changes}
}

type host struct {
	process.Host
	instants *Instants
	changes  func([]string) bool
}

func (h host) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	if h.changes(c.Args) {
		h.instants.pass()
		defer h.instants.pass()
	}
	return h.Host.Exec(ctx, c)
}

// Changes reports whether a git command changes more than to add objects that nothing leads to.
func Changes(args []string) bool {
	return !slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(reading, arg) })
}

var reading = []string{"rev-parse", "rev-list", "merge-base", "merge-tree", "config", "cat-file", "ls-remote", "ls-tree", "diff-tree", "diff-files",
	"diff-index", "ls-files", "for-each-ref", "symbolic-ref", "remote", "worktree", "commit-tree"}

// Kill has another process perform the operation and kills it at an instant. It reports whether there was one; otherwise the operation succeeded.
func Kill(t *testing.T, place any, instant int, operation forgetest.Operation) bool {
	t.Helper()
	what, err := json.Marshal(operation)
	where, problem := json.Marshal(place)
	if err = errors.Join(err, problem); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), operationVariable+"="+string(what), placeVariable+"="+string(where), instantVariable+"="+strconv.Itoa(instant))
	out, err := cmd.CombinedOutput()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
		return true
	}
	if err != nil {
		t.Fatalf("perform the operation in another process: %v\n%s", err, out)
	}
	return false
}
