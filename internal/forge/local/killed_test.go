package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/forge/forgetest"
	"signalbox/internal/forge/local"
	"signalbox/internal/process"
)

// The test binary is also the process that is killed: these variables tell it
// what to do, where, and at which instant to die.
const (
	operationVariable = "SIGNALBOX_TEST_OPERATION"
	projectVariable   = "SIGNALBOX_TEST_PROJECT"
	instantVariable   = "SIGNALBOX_TEST_INSTANT"
)

func TestMain(m *testing.M) {
	if os.Getenv(operationVariable) == "" {
		os.Exit(m.Run())
	}
	if err := performAndDie(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func performAndDie() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var operation forgetest.Operation
	if err := json.Unmarshal([]byte(os.Getenv(operationVariable)), &operation); err != nil {
		return err
	}
	instant, err := strconv.Atoi(os.Getenv(instantVariable))
	if err != nil {
		return err
	}
	host := &dyingHost{instant: int64(instant)}
	f, err := open(ctx, host, os.Getenv(projectVariable), func(context.Context, local.Candidate) (local.Verdict, error) {
		return local.Verdict{}, errors.New("no tests are expected here")
	})
	if err != nil {
		return err
	}
	host.armed.Store(true)
	return operation.Perform(ctx, f)
}

// dyingHost kills this process, as kill -9 does, right before or right after
// one of the git commands that change something.
type dyingHost struct {
	process.Host
	armed   atomic.Bool
	passed  atomic.Int64
	instant int64
}

func (h *dyingHost) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	if !h.armed.Load() || onlyReads(c.Args) {
		return h.Host.Exec(ctx, c)
	}
	h.passInstant()
	result, err := h.Host.Exec(ctx, c)
	h.passInstant()
	return result, err
}

func (h *dyingHost) passInstant() {
	if h.passed.Add(1)-1 == h.instant {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func onlyReads(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "rev-parse", "rev-list", "merge-base", "merge-tree", "config", "cat-file", "ls-remote", "ls-tree",
			"diff-tree", "diff-files", "diff-index", "ls-files", "for-each-ref", "symbolic-ref", "remote", "worktree":
			return true
		}
	}
	return false
}

func kill(t *testing.T, project string, instant int, operation forgetest.Operation) bool {
	t.Helper()
	arguments, err := json.Marshal(operation)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), operationVariable+"="+string(arguments), projectVariable+"="+project,
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
