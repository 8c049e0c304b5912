package gitea_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/forge/forgetest"
	"signalbox/internal/forge/local"
	"signalbox/internal/process"
)

// The test binary is also the process that is killed: these variables tell it what to do, where, and at which instant to die.
const (
	operationVariable = "SIGNALBOX_TEST_OPERATION"
	projectVariable   = "SIGNALBOX_TEST_PROJECT"
	targetVariable    = "SIGNALBOX_TEST_TARGET"
	instantVariable   = "SIGNALBOX_TEST_INSTANT"
)

func performAndDie() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var operation forgetest.Operation
	var at target
	var instants instants
	err := errors.Join(decode(operationVariable, &operation), decode(targetVariable, &at), decode(instantVariable, &instants.last))
	if err != nil {
		return err
	}
	f, err := open(ctx, dyingHost{instants: &instants}, &http.Client{Transport: dyingTransport{&instants}}, os.Getenv(projectVariable), at,
		func(context.Context, local.Candidate) (local.Verdict, error) {
			return local.Verdict{}, errors.New("no tests are expected here")
		})
	if err != nil {
		return err
	}
	instants.armed.Store(true)
	return operation.Perform(ctx, f)
}

// instants kills this process, as kill -9 does, at the last of them.
type instants struct {
	armed  atomic.Bool
	passed atomic.Int64
	last   int64
}

func (i *instants) pass() {
	if i.armed.Load() && i.passed.Add(1)-1 == i.last {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// dyingHost passes an instant right before and right after each git command that changes something.
type dyingHost struct {
	process.Host
	instants *instants
}

func (h dyingHost) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	if slices.ContainsFunc(c.Args, func(arg string) bool { return slices.Contains(reading, arg) }) {
		return h.Host.Exec(ctx, c)
	}
	h.instants.pass()
	defer h.instants.pass()
	return h.Host.Exec(ctx, c)
}

// reading are git's commands that change nothing, or only add objects that nothing leads to.
var reading = []string{"rev-parse", "rev-list", "merge-base", "merge-tree", "config", "cat-file", "ls-remote", "ls-tree", "diff-tree", "diff-files",
	"diff-index", "ls-files", "for-each-ref", "symbolic-ref", "remote", "worktree", "commit-tree"}

// dyingTransport passes an instant before the server is asked for a change and after its answer has arrived.
type dyingTransport struct{ instants *instants }

func (d dyingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return http.DefaultTransport.RoundTrip(r)
	}
	d.instants.pass()
	defer d.instants.pass()
	return http.DefaultTransport.RoundTrip(r)
}

func kill(t *testing.T, project string, at target, instant int, operation forgetest.Operation) bool {
	t.Helper()
	what, err := json.Marshal(operation)
	if err != nil {
		t.Fatal(err)
	}
	where, err := json.Marshal(at)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), operationVariable+"="+string(what), targetVariable+"="+string(where), projectVariable+"="+project,
		instantVariable+"="+strconv.Itoa(instant))
	out, err := cmd.CombinedOutput()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
		return true
	}
	if err != nil {
		t.Fatalf("perform the operation in another process: %v\n%s", err, out)
	}
	return false
}

// cut is a proxy that has the n-th change performed and cuts the connection instead of answering.
type cut struct {
	*httptest.Server
	lost atomic.Bool
}

func newCut(t *testing.T, n int) *cut {
	t.Helper()
	to, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	c := &cut{}
	var changes atomic.Int64
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || changes.Add(1)-1 != int64(n) {
			proxy.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		proxy.ServeHTTP(answer, r)
		c.lost.Store(true)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(c.Close)
	return c
}
