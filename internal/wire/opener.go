package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"signalbox/internal/config"
	"signalbox/internal/environment/clone/seccomp"
	"signalbox/internal/forge/local"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/redact"
)

// Opener opens projects. A front end fills it in with what it knows about the user and the command.
type Opener struct {
	// Env reads the user's variables, Dir is their working directory.
	Env func(string) string
	Dir string
	// Clock is for tests; nil is this machine's clock.
	Clock func() time.Time
	// Warn tells the user something, Mended what was read in an older form. Learn gets the secrets that no output may show.
	Warn   func(format string, args ...any)
	Mended func(path string, notes []string)
	Learn  func(*redact.Redactor)
	// AskTrust asks the user to agree to what the project's files do to this machine; nil refuses.
	AskTrust func(context.Context, *Project) error
	// Notices are the notifications on their way.
	Notices *sync.WaitGroup
	Log     *slog.Logger
	// Overrides win over the configuration; zero values mean none.
	Overrides overrides
	// WithoutAgents: the command runs no agent, so it works without the settings that reach this machine.
	WithoutAgents bool
	// Obeys: the command follows the project's files, as its user agreed. Otherwise it only shows things.
	Obeys bool
	// LooksAtTrust: the command shows what there is to trust, so --trust doesn't answer it.
	LooksAtTrust bool
}

// Now is the time by Clock. The self-healing loop waits for hours, which no test can.
func (a *Opener) Now() time.Time {
	if a.Clock != nil {
		return a.Clock()
	}
	return time.Now()
}

// overrides are the flags that win over the configuration.
type overrides struct {
	Workflow    []string
	Approve     string
	MaxParallel int
	Unsandboxed bool
	Agent       string
	Base        string
	// Trust: the settings that reach this machine count for this command.
	Trust bool
	// Program: the session's agent is a program that the user typed, not one of the configuration's.
	Program bool
}

func (o overrides) apply(c *config.Config) error {
	if len(o.Workflow) > 0 {
		c.Workflow = o.Workflow
	}
	if o.Approve != "" {
		if !slices.Contains([]string{config.ApproveAuto, config.ApproveManual, config.ApproveForge}, o.Approve) {
			return &problem.Error{Err: fmt.Errorf("--approve is %q", o.Approve), Hint: "want manual, auto or forge", Code: problem.Usage}
		}
		if o.Approve == config.ApproveForge && !c.Forge.Hosted() {
			return &problem.Error{Err: errors.New("--approve is forge, and no forge is configured"), Hint: "want manual or auto", Code: problem.Usage}
		}
		c.Approve = o.Approve
	}
	if o.MaxParallel < 0 {
		return &problem.Error{Err: fmt.Errorf("--max-parallel is %d", o.MaxParallel), Hint: "want 1 or more", Code: problem.Usage}
	}
	if o.MaxParallel > 0 {
		c.MaxParallel = o.MaxParallel
	}
	if o.Unsandboxed {
		c.Environment.Sandbox = config.SandboxNone
	}
	if o.Base != "" {
		c.Base = o.Base
	}
	if o.Agent != "" {
		onlyAgent(c, o.Agent)
	}
	return nil
}

// onlyAgent leaves one agent: it implements, and the other roles are empty. agent is a name from the configuration, or a program.
func onlyAgent(c *config.Config, agent string) {
	name := agent
	if _, configured := c.Agents[name]; !configured {
		name = filepath.Base(agent)
		c.Agents = map[string]config.Agent{name: {Driver: config.DriverCommand, Command: []string{agent}}}
	}
	c.Roles = map[string]config.Role{"implementer": {Agent: name}, "planner": {Agent: config.RoleNone}, "reviewer": {Agent: config.RoleNone}, "repairer": {Agent: config.RoleNone}}
	c.Workflows = nil
}

// gitHost runs git. For a command that only shows things, git doesn't fetch the objects that a partial clone lacks: the
// repository says how to fetch them, and that can be any program.
type gitHost struct {
	process.Host
	app *Opener
}

func (a *Opener) GitHost() gitHost { return gitHost{a.Host(), a} }

// Exec implements process.Executor.
func (h gitHost) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	if !h.app.Obeys && !slices.Contains(c.Args, "fetch") { // an explicit fetch reads from a folder on this machine
		c.Env = append(slices.Clip(c.Env), "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1")
	}
	return h.Host.Exec(ctx, c)
}

// Remote is the remote that branches and merges are pushed to.
const Remote = local.Remote

// Filters reports whether this machine lets a sandbox close system calls.
func Filters() bool { return seccomp.Filters() }
