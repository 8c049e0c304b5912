package wire

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"signalbox/internal/commandline"
	"signalbox/internal/engine"
	"signalbox/internal/environment"
	"signalbox/internal/environment/clone/sandbox"
	"signalbox/internal/forge"
	"signalbox/internal/forge/local"
	"signalbox/internal/git"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/store"
)

// Explained adds the next command to errors that have an obvious one.
func Explained(err error) error {
	var p *problem.Error
	if err == nil || errors.As(err, &p) {
		return err
	}
	if _, advice := process.Exhausted(err); advice != "" {
		return &problem.Error{Err: err, Hint: advice, Code: problem.CodeOf(err)}
	}
	if errors.Is(err, engine.ErrNotSaved) && errors.Is(err, fs.ErrNotExist) {
		return &problem.Error{Err: err, Hint: `something removed Signalbox's files while it worked, so it stopped: continue with "signalbox resume"`, Code: problem.CodeOf(err)}
	}
	// A file that can't be read may be the one that is meant, so it comes before what isn't found.
	if denied := (*local.RequestError)(nil); errors.As(err, &denied) && errors.Is(denied, fs.ErrPermission) {
		return &problem.Error{Err: err, Hint: "let yourself read it: chmod u+r " + commandline.ShellWord(denied.Path), Code: problem.General}
	}
	document, fix := "FILE", "fix it by hand"
	if broken := (*store.BrokenError)(nil); errors.As(err, &broken) {
		if document = commandline.ShellWord(broken.File()); document == "state.json" {
			fix = "restore it: signalbox health restore"
		}
	}
	for _, known := range []struct {
		is   error
		hint string
	}{
		{git.ErrBare, "clone it, and work in the clone: git clone . ../work && cd ../work"},
		{git.ErrUnreadable, "fix what git names, until this shows no error: git status"},
		{git.ErrNotRepository, `go to a git repository, or make this one: git init`},
		{git.ErrNoGit, "install git: apt-get install git"},
		{git.ErrNoAnswer, `see what git waits for: GIT_TRACE=1 git status`},
		{git.ErrTooOld, "install a newer git"},
		{environment.ErrNoIsolation, environment.IsolationAdvice(err) + ", or add --unsandboxed if you trust what will run"},
		{sandbox.ErrNotBuilt, environment.IsolationAdvice(err) + ", or set SIGNALBOX_SANDBOX=none if you trust what will run"},
		{environment.ErrNoContainer, `"signalbox doctor" says what is missing; environment.driver: clone works without containers`},
		{store.ErrPlanChanged, "put the file back as it was, then \"signalbox resume\"; a plan must not change while a run follows it"},
		{store.ErrBroken, "Signalbox leaves the file as it is; " + fix + `; "signalbox document validate ` + document + `" says what is wrong`},
		{forge.ErrNotFound, `see which requests there are: signalbox list`},
		{local.ErrDouble, "give one of them a number and an id of its own; until then, no command can name either of them"},
		{engine.ErrLost, "nothing is lost, the other one carries it on; see how far it is: signalbox list"},
		{engine.ErrNotSaved, `nothing more was done; check the disk, then "signalbox resume"`},
	} {
		if errors.Is(err, known.is) {
			return &problem.Error{Err: err, Hint: known.hint, Code: problem.CodeOf(err)}
		}
	}
	// Paths below the project's root are relative. The first folder is ours.
	if at := (*fs.PathError)(nil); errors.As(err, &at) && !filepath.IsAbs(at.Path) {
		ours, _, _ := strings.Cut(at.Path, "/")
		switch ours = commandline.ShellWord(ours); {
		case errors.Is(at, syscall.ENOTDIR):
			return &problem.Error{Err: err, Hint: fmt.Sprintf("Signalbox needs a folder there: move the file away: mv %s %[1]s-old", ours)}
		case errors.Is(at, fs.ErrPermission):
			return &problem.Error{Err: err, Hint: fmt.Sprintf("let yourself write there: chmod -R u+rwX %s; or, if another user made it: sudo chown -R \"$USER\" %[1]s", ours)}
		case errors.Is(at, syscall.EROFS):
			return &problem.Error{Err: err, Hint: "make the file system writable, or work in a copy elsewhere"}
		}
	}
	if owned := (*git.NotYoursError)(nil); errors.As(err, &owned) {
		return &problem.Error{Err: err, Hint: "if you trust it: git config --global --add safe.directory '" + strings.ReplaceAll(owned.Dir, "'", `'\''`) + "'"}
	}
	if carried := (*engine.RunningError)(nil); errors.As(err, &carried) {
		return &problem.Error{Err: err, Hint: fmt.Sprintf("wait for it, or end it and continue here: kill %d; then signalbox resume", carried.PID)}
	}
	if broken := (*local.RequestError)(nil); errors.As(err, &broken) {
		return &problem.Error{Err: err, Hint: "fix the file; requests/example.md.txt, which \"signalbox init\" writes, shows what one looks like"}
	}
	return err
}
