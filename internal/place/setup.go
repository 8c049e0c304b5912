package place

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"syscall"
	"time"

	"signalbox/internal/environment"
	"signalbox/internal/process"
	"signalbox/internal/workflow"

	"golang.org/x/sys/unix"
)

// Fingerprint identifies an environment after its setup: equal fingerprints mean equal environments. It includes the base
// branch, because its files take part in the setup and the tests, and their traces must not affect another branch's tests.
func Fingerprint(env environment.Environment, base string, s *workflow.SetUp, locks string) string {
	data, err := json.Marshal(struct {
		Stands, Base, Name, Locks string
		Commands                  []string
		Verification              []workflow.Verification
	}{env.Fingerprint(), base, s.Name, locks, s.Commands, s.Verification})
	if err != nil {
		panic(fmt.Sprintf("encode fingerprint: %v", err)) // strings are always encoded
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Activated is an environment in which every program starts with the setup's activation.
type Activated struct{ environment.Environment }

// Exec implements process.Executor.
func (a Activated) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	c.Args = environment.Activated(c.Args, c.Env)
	return a.Environment.Exec(ctx, c)
}

// For returns the run's environment as its programs see it: activated, if the run has a setup.
func For(run *workflow.Run, env environment.Environment) environment.Environment {
	if run.Details.SetUp == nil {
		return env
	}
	return Activated{env}
}

// SetUpAgain repeats in a fresh environment the setup that succeeded in the run's own.
func SetUpAgain(ctx context.Context, env process.Executor, commands, variables []string, total time.Duration, log io.Writer) error {
	for _, command := range commands {
		result, err := env.Exec(ctx, process.Command{Args: environment.SetUpLine(command), Env: variables, Stdout: log, Stderr: log,
			Total: total, OutputLimit: outputLimit})
		if err == nil && ctx.Err() != nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("set up with %q: %w", command, err)
		}
		switch {
		case Unsettled(result):
			return &CutOffError{Command: command, how: Ending(result), Took: result.Duration}
		case !result.OK():
			return fmt.Errorf("set up with %q: %s", command, Ending(result))
		}
	}
	return nil
}

// CutOffError: a command of the setup didn't end by itself. As with a test, the result may differ next time.
type CutOffError struct {
	Command, how string
	Took         time.Duration
}

func (e *CutOffError) Error() string { return fmt.Sprintf("set up with %q: %s", e.Command, e.how) }

// outputLimit is how much of a command's output its log keeps, in bytes.
const outputLimit = 32 << 20

// Ending says for people how a program ended.
func Ending(r process.Result) string {
	took := r.Duration.Round(time.Millisecond)
	switch r.Ending {
	case process.TimedOut:
		return fmt.Sprintf("stopped after %s, which is its time limit", took)
	case process.Idled:
		return fmt.Sprintf("stopped after %s without output", took)
	case process.NoMemory:
		return "ended by the kernel: out of memory"
	case process.Stopped:
		return "stopped"
	}
	if r.Signal != "" {
		return fmt.Sprintf("ended by %s after %s", r.Signal, took)
	}
	if name := unix.SignalName(syscall.Signal(r.ExitCode - 128)); r.ExitCode > 128 && name != "" {
		return fmt.Sprintf("exit code %d (%s) after %s", r.ExitCode, name, took) // which is how shells report a signal
	}
	return fmt.Sprintf("exit code %d after %s", r.ExitCode, took)
}

// Unsettled reports whether a command didn't end by itself. If the kernel kills a shell's child, the shell exits with a code that
// says so; the kernel may also kill the shell.
func Unsettled(r process.Result) bool {
	return r.Ending != process.Exited || r.Signal == unix.SignalName(syscall.SIGKILL) || r.ExitCode == 128+int(syscall.SIGKILL)
}
