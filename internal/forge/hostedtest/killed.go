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
	if os.Getenv(operationVariable) != "" {
		if err := performAndDie(driver); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if err := end(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func performAndDie(driver Driver) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var operation forgetest.Operation
	var p place
	instant, err := strconv.Atoi(os.Getenv(instantVariable))
	err = errors.Join(err, json.Unmarshal([]byte(os.Getenv(operationVariable)), &operation), json.Unmarshal([]byte(os.Getenv(placeVariable)), &p))
	if err != nil {
		return err
	}
	d := &dying{instant: int64(instant)}
	f, err := p.open(ctx, d, d, driver, func(context.Context, local.Candidate) (local.Verdict, error) {
		return local.Verdict{}, errors.New("no tests are expected here")
	})
	if err != nil {
		return err
	}
	d.armed.Store(true)
	return operation.Perform(ctx, f)
}

// dying kills this process, as kill -9 does, right before or right after something changes on the server. Kills between the changes on this
// machine are alike for all servers, and are tested with another.
type dying struct {
	process.Host
	armed   atomic.Bool
	passed  atomic.Int64
	instant int64
}

func (d *dying) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	if !d.armed.Load() || !slices.Contains(c.Args, "push") {
		return d.Host.Exec(ctx, c)
	}
	d.passInstant()
	result, err := d.Host.Exec(ctx, c)
	d.passInstant()
	return result, err
}

func (d *dying) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return http.DefaultTransport.RoundTrip(r)
	}
	d.passInstant()
	resp, err := http.DefaultTransport.RoundTrip(r)
	d.passInstant()
	return resp, err
}

func (d *dying) passInstant() {
	if d.passed.Add(1)-1 == d.instant {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func kill(t *testing.T, p place, instant int, operation forgetest.Operation) bool {
	t.Helper()
	what, err := json.Marshal(operation)
	where, problem := json.Marshal(p)
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
