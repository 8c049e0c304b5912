package environments

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"signalbox/internal/app"
	"signalbox/internal/commandline"
	"signalbox/internal/place"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Enter calls act in the environment that ref names, by its id or its issue's number. p must obey its configuration.
func Enter(ctx context.Context, p *app.App, ref string, act func(context.Context, *place.Place) error) (err error) {
	if p.ConfigError != nil { // the defaults may allow more than the user wants
		return p.ConfigError
	}
	found, err := OfRun(ctx, p, ref)
	if err != nil {
		return err
	}
	at, err := p.Places().Enter(ctx, found.Run, visitor)
	switch {
	case errors.Is(err, place.ErrNoEnvironment), errors.Is(err, fs.ErrNotExist):
		return &problem.Error{Err: fmt.Errorf("run %s has no environment at this moment", found.Run.Ref()),
			Hint: "see where it is: signalbox status " + found.Run.Ref(), Code: problem.NotFound}
	case err != nil:
		return wire.Explained(err)
	}
	if !at.Alone {
		p.Warn("%s", others(ctx, p, found.Ref))
	}
	defer func() { err = errors.Join(err, at.Leave()) }()
	err = p.Store.Environments().Update(ctx, func(doc *registry.Environments) error {
		entry, ok := registry.EntryOf(&found.Run)
		if ok && !slices.ContainsFunc(doc.Environments, func(e registry.Environment) bool { return e.EnvID == entry.EnvID }) {
			doc.Environments = append(doc.Environments, entry) // it was removed and has just been made again
		}
		for i := range doc.Environments {
			if doc.Environments[i].EnvID == found.Run.Details.EnvID {
				doc.Environments[i].Touch(p.Now())
			}
		}
		return nil
	})
	if err != nil {
		return wire.Explained(err)
	}
	return act(ctx, at)
}

// visitor is the name under which "signalbox env" locks a run.
const visitor = "signalbox env"

// others says who else is in the environment.
func others(ctx context.Context, p *app.App, ref workflow.RunRef) string {
	holder, held, err := p.Held(ctx, ref.RequestID)
	if err == nil && held && holder.Owner == visitor {
		return fmt.Sprintf("someone else is in this environment with \"signalbox env\" (pid %d)", holder.PID)
	}
	if name, ok := strings.CutPrefix(holder.Owner, app.SessionOwner); ok {
		return fmt.Sprintf("session %s works in this environment", name)
	}
	return "its run is at work in this environment: what you change there may end up in the change, or be taken away"
}

// OfRun is the run whose environment ref names, by its id or its issue's number.
func OfRun(ctx context.Context, p *app.App, ref string) (store.RunSummary, error) {
	if doc, err := p.Store.Environments().Load(ctx); err == nil {
		entry, err := Entry(&doc, ref)
		if problem.CodeOf(err) == problem.Usage {
			return store.RunSummary{}, err
		}
		if err == nil {
			ref = entry.EnvID
		}
	}
	run, err := runOf(ctx, p.Store, ref)
	if err != nil {
		return store.RunSummary{}, wire.Explained(err)
	}
	if run != nil {
		return store.RunSummary{Ref: workflow.RefOf(run), Run: *run}, nil
	}
	found, err := p.Find(ctx, ref)
	if problem.CodeOf(err) == problem.NotFound {
		return found, &problem.Error{Err: fmt.Errorf("no run of Signalbox works in an environment %q", ref), Code: problem.NotFound,
			Hint: "see which environments there are: signalbox env list"}
	}
	return found, err
}

// NoProgram is a shell's exit code for a missing program.
const NoProgram = 127

// Exec runs c in the environment and returns its exit code as an error. ref is how the user named the environment.
func Exec(ctx context.Context, at *place.Place, ref string, c process.Command) error {
	result, err := at.Exec(ctx, c)
	switch {
	case err != nil:
		if missing := noProgram(ctx, at, ref, c.Args[0]); ctx.Err() == nil && problem.CodeOf(missing) == NoProgram && missing.Error() != "" {
			return missing
		}
		return wire.Explained(err)
	case result.Ending == process.Stopped:
		return &problem.Error{Code: problem.Canceled}
	case result.ExitCode == NoProgram:
		return noProgram(ctx, at, ref, c.Args[0])
	case result.ExitCode > 0:
		return &problem.Error{Code: result.ExitCode}
	case !result.OK():
		return &problem.Error{Code: problem.General}
	}
	return nil
}

// lookForProgram exits 1 if the program $1 is missing and 2 if it can't be executed. It tests paths itself, since shells differ in
// what their command -v says about one.
const lookForProgram = `case $1 in
*/*) test -e "$1" || exit 1; test -f "$1" -a -x "$1" || exit 2 ;;
*) command -v -- "$1" >/dev/null || exit 1 ;;
esac`

// noProgram explains an exit code of 127. If the program is there, the code is its own and stays as it is.
func noProgram(ctx context.Context, at *place.Place, ref, program string) error {
	found, err := at.Exec(ctx, process.Command{Args: []string{"sh", "-c", lookForProgram, "sh", program}})
	switch {
	case err != nil:
		return wire.Explained(err)
	case found.ExitCode == 1:
		return &problem.Error{Err: fmt.Errorf("program %q is not found in the environment", program), Code: NoProgram,
			Hint: fmt.Sprintf("see where programs are looked for: signalbox env exec %s -- printenv PATH", commandline.ShellWord(ref))}
	case found.ExitCode == 2:
		return &problem.Error{Err: fmt.Errorf("%q is in the environment, but it can't be executed", program), Code: NoProgram,
			Hint: fmt.Sprintf("give it to its interpreter: signalbox env exec %s -- sh %s", commandline.ShellWord(ref), commandline.ShellWord(program))}
	}
	return &problem.Error{Code: NoProgram}
}
