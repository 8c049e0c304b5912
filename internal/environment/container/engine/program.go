package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"signalbox/internal/environment"
	"signalbox/internal/process"
	"signalbox/internal/redact"
)

// Name is the program that speaks to Docker.
const Name = "signalbox-docker"

// ErrNoProgram: the program that speaks to Docker is not installed.
var ErrNoProgram = fmt.Errorf("%w: %s is not installed beside signalbox", environment.ErrNoContainer, Name)

// Engine performs orders by running the program.
type Engine struct {
	// Exec runs it on this machine.
	Exec process.Executor
	// Program is its path.
	Program string
	// Env are its variables, such as DOCKER_HOST and PATH.
	Env []string
}

const (
	// orderTotal limits every order but a build and a commit: a daemon that hangs counts as missing. Starting takes under a second, removing a
	// large container several.
	orderTotal = 2 * time.Minute
	// buildTotal limits builds and commits, which may compile a toolchain or copy gigabytes.
	buildTotal = 2 * time.Hour
	// maxAnswer is the largest answer, in bytes: some hundred thousand containers.
	maxAnswer = 64 << 20
)

// Do performs an order. The error wraps ErrNotFound, ErrConflict or ErrNoDaemon if it is one of these.
func (e Engine) Do(ctx context.Context, o Order) (Answer, error) {
	a, err := e.do(ctx, o)
	if err == nil {
		return a, nil
	}
	subject := o.Name
	switch {
	case o.Spec != nil:
		subject = "container " + o.Spec.Name
	case o.Build != nil:
		subject = "image from " + o.Build.Dockerfile
	case o.To != "":
		subject += " as " + o.To
	}
	return Answer{}, fmt.Errorf("docker %s: %w", strings.TrimSpace(string(o.Op)+" "+subject), err)
}

// Shown is how many bytes of a program's output an error contains. An ellipsis marks an omission.
const Shown = 500

func (e Engine) do(ctx context.Context, o Order) (a Answer, err error) {
	if e.Program == "" {
		return a, ErrNoProgram
	}
	order, err := json.Marshal(o)
	if err != nil {
		return a, fmt.Errorf("encode order: %w", err)
	}
	var stdout, stderr bytes.Buffer
	total := orderTotal
	if o.Op == OpBuild || o.Op == OpCommit {
		total = buildTotal
	}
	result, err := e.Exec.Exec(ctx, process.Command{Args: []string{e.Program}, Dir: "/", Env: e.Env, Stdin: bytes.NewReader(order),
		Stdout: &stdout, Stderr: &stderr, Total: total, OutputLimit: maxAnswer})
	switch {
	case err != nil:
		return a, err
	case ctx.Err() != nil:
		return a, ctx.Err()
	case result.Ending == process.TimedOut:
		return a, fmt.Errorf("%w: no answer within %v", ErrNoDaemon, total)
	case !result.OK():
		return a, fmt.Errorf("%s exited %d (%s%s): %q", Name, result.ExitCode, result.Ending, result.Signal, redact.Cut(stderr.String(), Shown))
	}
	if err := json.Unmarshal(stdout.Bytes(), &a); err != nil {
		return a, fmt.Errorf("parse answer: %w", err)
	}
	if a.Fault == "" {
		return a, nil
	}
	message := strings.TrimSpace(a.Message)
	if known := faults[a.Fault]; known != nil {
		return a, fmt.Errorf("%w: %s", known, message)
	}
	return a, errors.New(message)
}
