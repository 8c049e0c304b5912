package wire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"signalbox/internal/agent"
	"signalbox/internal/agent/replay"
	"signalbox/internal/commandline"
	"signalbox/internal/config"
	"signalbox/internal/perform"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/wire/folder"
	"signalbox/internal/workflow"
)

// mayCallInside checks a run's agents before anything is paid for: their programs start inside, in a version that is known to
// work, and the servers that the user named for their models answer. Doctor checks the same.
func (p *Project) mayCallInside(ctx context.Context, program string, roles []workflow.Role, inside process.Executor) error {
	own := p
	if program != "" && p.Overrides.Agent == "" {
		other := *p
		onlyAgent(&other.Config, program)
		own = &other
	}
	asked := map[string]bool{}
	for _, role := range roles {
		name, c, ok := own.Config.AgentFor(string(role), own.WorkflowName())
		if !ok || asked[name] {
			continue
		}
		asked[name] = true
		if err := own.mayBeCalled(ctx, name, c, inside); err != nil {
			err.Role = role
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func (p *Project) mayBeCalled(ctx context.Context, name string, c config.Agent, inside process.Executor) *perform.AgentError {
	v, known := VendorOf(c.Driver)
	if !known && c.Driver != config.DriverCommand { // the replay driver is our own program
		return nil
	}
	// An agent that starts but doesn't tell its version may work all the same.
	if err := p.Starting(name, c)(ctx, inside); errors.Is(err, agent.ErrUnseen) || errors.Is(err, agent.ErrTooOld) {
		next := workflow.SeeDoctor
		switch says, sure := FixAgent(name, c, err); {
		case errors.Is(err, agent.ErrTooOld) && v.Install != "":
			next = workflow.NextStep{Program: strings.Fields(says)}
		case sure:
			next = workflow.Advice(says)
		}
		return &perform.AgentError{Code: string(agent.Unavailable), Next: next, Err: err}
	}
	if script := ScriptOf(c); script != "" {
		var said bytes.Buffer
		end, err := inside.Exec(ctx, process.Command{Args: []string{"sh", "-c", readScript, "sh", agent.Parser(filepath.Base(c.Command[0])), script}, Stdout: &said, Stderr: &said, Total: lookWait, OutputLimit: 4 << 10})
		if err == nil && ctx.Err() == nil && end.Ending == process.Exited && end.ExitCode == exitUnread {
			return &perform.AgentError{Code: string(agent.Unavailable), Next: workflow.Advice("correct and commit the file, or fix agents." + name + " in " + config.Name),
				Err: fmt.Errorf("agent %q is to run %s, and %s", name, script, redact.Line(said.String(), 300))}
		}
	}
	if !known {
		return nil
	}
	if err := p.MayCallBy(name, v, c); err != nil {
		next := workflow.SeeDoctor
		if known := (*problem.Error)(nil); errors.As(err, &known) && known.Hint != "" {
			next = workflow.Advice(known.Hint)
		}
		return &perform.AgentError{Code: string(agent.NoRoute), Next: next, Err: err}
	}
	w := p.WayOf(v, c)
	if login, _, _ := p.LoginOf(v, c); login != config.LoginKey || w.Place == "" {
		return nil
	}
	if err := p.startGateway(ctx); err != nil {
		return nil // its call reports it, before anything is sent
	}
	return p.Reach(ctx, w)
}

// readScript prints why the script that is its second argument can't be run. Its first is agent.Parser of the interpreter.
const readScript = `if ! [ -f "$2" ] || ! [ -r "$2" ]; then echo "there is no such file where it works"; exit 3; fi
if ! [ -s "$2" ]; then echo "that is empty"; exit 3; fi
[ -z "$1" ] || ! command -v ${1%% *} >/dev/null || $1 -n "$2" || exit 3`

// exitUnread is how readScript ends for a script that can't be run.
const exitUnread = 3

// FixAgent is what to type about an agent's program that can't be started. It's sure if err names what is wrong with the file.
func FixAgent(name string, c config.Agent, err error) (says string, sure bool) {
	program := commandline.ShellWord(cmp.Or(append([]string{c.Program}, c.Command...)...))
	v, _ := VendorOf(c.Driver)
	switch {
	case errors.Is(err, agent.ErrNotExecutable):
		return "chmod +x " + program + ", or name a file if it is a folder", true
	case errors.Is(err, agent.ErrLineEnds):
		return `sed -i 's/\r$//' ` + program, true
	case errors.Is(err, agent.ErrBroken):
		return "correct " + program, true
	case errors.Is(err, agent.ErrTooOld) && v.Install != "":
		return v.Install + "@latest", true
	}
	return "install it, or fix agents." + name + " in " + config.Name, false
}

// Reach says why nothing answers at the address of the agent's model, nil if something does.
func (p *Project) Reach(ctx context.Context, w Way) *perform.AgentError {
	permanent, err := p.Gateway.Reach(ctx, w.Url, w.from != "")
	if err == nil {
		return nil
	}
	return &perform.AgentError{Code: string(agent.NoRoute), Passing: !permanent, Err: fmt.Errorf("its model at %s (%s): %w", ShownURL(w.Url), w.Place, err),
		Next: workflow.Advice("start it, correct the address in " + w.Place + ", or unset that for the vendor's own server")}
}

// TryInside calls try with an executor inside the environment, and says so if it couldn't.
func (p *Project) TryInside(ctx context.Context, try func(context.Context, process.Executor) error) (says string, err error) {
	if p.Unsandboxed() {
		return "", nil
	}
	inside, ok := p.Environments.(tryer)
	if !ok {
		return "; not tried inside a container", nil
	}
	if _, err := p.Environments.Check(ctx); err != nil { // doctor reports it as isolation
		return "; not tried inside", nil
	}
	return "", try(ctx, tryIn{inside})
}

// Starting asks a known agent for its version. Any other program it only looks for, since starting it could do anything.
func (p *Project) Starting(name string, c config.Agent) func(context.Context, process.Executor) error {
	v, known := VendorOf(c.Driver)
	path := cmp.Or(c.Program, c.Driver)
	if len(c.Command) > 0 {
		path = c.Command[0]
	}
	if strings.Contains(path, "/") {
		path = folder.Within(p.Root, path)
	}
	program := agent.Program{Agent: name, Title: v.Title, Oldest: v.Oldest, Install: v.Install, Args: []string{path}, Env: c.Env}
	if !known {
		return program.FindIn
	}
	return func(ctx context.Context, exec process.Executor) error {
		_, err := program.VersionIn(ctx, exec)
		return err
	}
}

// ScriptOf is the script in the project that a command agent starts by its interpreter, as in "sh agent.sh"; empty if it has none.
func ScriptOf(c config.Agent) string {
	if c.Driver != config.DriverCommand || len(c.Command) == 0 {
		return ""
	}
	if script := scriptAmong(c.Command); filepath.IsLocal(script) {
		return script
	}
	return ""
}

// tryer is a driver that can run a command inside before there is an environment.
type tryer interface {
	Try(ctx context.Context, c process.Command) (process.Result, error)
}

type tryIn struct{ tryer }

// Exec implements process.Executor.
func (t tryIn) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	return t.Try(ctx, c)
}

// Subcommands of our own program that drivers start.
const (
	ProbeName       = "probe"
	ReplayAgentName = "replay-agent"
)

// ReplayAgent acts as the scripted agent: it is what ReplayAgentName runs.
var ReplayAgent = replay.Main

// Ask is the command that runs our own program inside, for a health check of a service there.
func (p *Project) Ask(check workflow.HealthCheck) process.Command {
	self, err := ownProgram()
	if err != nil {
		p.Log.Warn("find own program", "err", err) // starting it then fails
	}
	question, err := json.Marshal(check)
	if err != nil {
		p.Log.Error("encode health check", "check", check.ID, "err", err) // can't happen: it was decoded from text
	}
	return process.Command{Args: []string{self, "heal", ProbeName, string(question)}, Reads: []string{self}}
}

func ownProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(self)
}
