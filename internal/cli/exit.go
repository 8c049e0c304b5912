package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"signalbox/internal/engine"
	"signalbox/internal/environment"
	"signalbox/internal/forge"
	"signalbox/internal/forge/local"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// Exit codes, the same for every command.
const (
	exitOK         = 0
	exitError      = 1
	exitUsage      = 2
	exitNeedsInput = 3
	exitFailed     = 4
	exitHeld       = 5
	exitNotFound   = 6
	exitCanceled   = 7
	exitNothingDue = 8
	exitCooldown   = 9
	exitUntrusted  = 10
)

const exitCodes = `Exit codes:
  0  done, or shown
  1  an error
  2  wrong command line
  3  the run is waiting for you
  4  the run failed, or a session ended in an error
  5  another process has the run, or a session works on its request
  6  no such request or run
  7  the run was canceled
  8  self-healing: nothing is due, or a pass is running (heal gate)
  9  self-healing: cooldown (heal, heal gate)
 10  this project's files need your agreement (signalbox trust)`

// problem is an error with what to do next and its exit code.
type problem struct {
	err  error
	hint string
	code int
}

func (p *problem) Error() string {
	if p.err == nil {
		return ""
	}
	return p.err.Error()
}

func (p *problem) Unwrap() error { return p.err }

// ended is the exit code of a run that went as far as it goes.
func ended(state workflow.State) error {
	codes := map[workflow.State]int{workflow.Done: exitOK, workflow.NeedsInput: exitNeedsInput, workflow.Failed: exitFailed,
		workflow.Canceled: exitCanceled, workflow.Queued: exitNeedsInput, workflow.Running: exitError}
	if code := codes[state]; code != exitOK {
		return &problem{code: code}
	}
	return nil
}

func codeOf(err error) int {
	var p *problem
	var held *store.HeldError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &p) && p.code != 0:
		return p.code
	case errors.As(err, &held):
		return exitHeld
	case errors.Is(err, forge.ErrNotFound):
		return exitNotFound
	}
	return exitError
}

// explained adds the next command to errors that have an obvious one.
func explained(err error) error {
	var p *problem
	if err == nil || errors.As(err, &p) {
		return err
	}
	if process.Exhausted(err) {
		return &problem{err: err, hint: process.ExhaustedAdvice, code: codeOf(err)}
	}
	if errors.Is(err, engine.ErrNotSaved) && errors.Is(err, fs.ErrNotExist) {
		return &problem{err: err, hint: `something removed Signalbox's files while it worked; nothing more was done: go on with "signalbox resume"`, code: codeOf(err)}
	}
	for _, known := range []struct {
		is   error
		hint string
	}{
		{git.ErrNotRepository, `go to a git repository, or make this one: git init`},
		{git.ErrNoGit, "install git: apt-get install git"},
		{git.ErrNoAnswer, `see what git waits for: GIT_TRACE=1 git status`},
		{git.ErrTooOld, "install a newer git"},
		{environment.ErrNoIsolation, `install bubblewrap ("apt-get install bubblewrap"), or add --unsandboxed if you trust what will run`},
		{environment.ErrNoContainer, `"signalbox doctor" says what is missing; environment.driver: clone works without containers`},
		{store.ErrPlanChanged, "put the file back as it was, then \"signalbox resume\"; a plan is not changed while it is carried out"},
		{store.ErrBroken, `the file is kept as it is; fix it by hand, "signalbox document validate" says what is wrong`},
		{forge.ErrNotFound, `see which requests there are: signalbox list`},
		{local.ErrDouble, "give one of them a number and an id of its own; until then neither can be meant"},
		{engine.ErrNotSaved, `nothing more was done; check the disk, then "signalbox resume"`},
	} {
		if errors.Is(err, known.is) {
			return &problem{err: err, hint: known.hint, code: codeOf(err)}
		}
	}
	if owned := (*git.NotYoursError)(nil); errors.As(err, &owned) {
		return &problem{err: err, hint: "if you trust it: git config --global --add safe.directory '" + strings.ReplaceAll(owned.Dir, "'", `'\''`) + "'"}
	}
	if carried := (*engine.CarriedError)(nil); errors.As(err, &carried) {
		return &problem{err: err, hint: fmt.Sprintf("wait for it, or end it and go on here: kill %d; then signalbox resume", carried.PID)}
	}
	if broken := (*local.RequestError)(nil); errors.As(err, &broken) {
		return &problem{err: err, hint: "mend the file; requests/example.md.txt, which \"signalbox init\" writes, shows what one looks like"}
	}
	return err
}
