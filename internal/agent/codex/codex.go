// Package codex drives Codex: its command line, its events and its words for
// what went wrong. It refuses to judge the work: what Codex's own sandbox
// prevents is in no event, and whether there is a change is another fact.
package codex

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// Oldest is the oldest version that was seen to work, with a scripted model: 0.121.0 refuses --ignore-user-config.
// Install is the command that installs it.
const (
	Oldest  = "0.122.0"
	Install = "npm install -g @openai/codex"
)

// Agent is the driver. It implements agent.Agent.
type Agent struct{ agent.Driver }

// New checks the settings. Check reports whether the program exists.
func New(settings agent.Settings) (*Agent, error) {
	driver, err := agent.NewDriver(settings, agent.Program{Title: "Codex", Oldest: Oldest, Install: Install, Args: []string{"codex"},
		Env: slices.Concat(settings.Env, []string{zone})}, agent.Ask)
	if err != nil {
		return nil, err
	}
	return &Agent{driver}, nil
}

// Run implements agent.Agent.
func (a *Agent) Run(ctx context.Context, task agent.Task, exec process.Executor) (agent.Result, error) {
	if task.Terminal {
		// Codex first asks about a folder that isn't trusted yet.
		program := a.Located()
		program.Args = append(program.Args, "-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false")
		program.Args = slices.Concat(program.Args, trust(task.Dir), modes[a.Settings.Permissions], endpoint(task.Endpoint))
		if a.Settings.Model != "" {
			program.Args = append(program.Args, "--model="+a.Settings.Model)
		}
		program.Args = slices.Concat(program.Args, a.Settings.Args, []string{"--", task.Prompt})
		if task.Endpoint != nil {
			program.Env = append(program.Env, keyVariable+"="+task.Endpoint.Key)
		}
		return program.Run(ctx, task, exec)
	}
	if f, err := a.fenced(ctx, task, exec); f != nil || err != nil {
		return agent.Result{Failure: f}, err
	}
	program := a.Located()
	program.Args = append(program.Args, a.arguments(task)...)
	if task.Endpoint != nil {
		program.Env = append(program.Env, keyVariable+"="+task.Endpoint.Key)
	}
	program.Stdin, program.Reader = strings.NewReader(task.Prompt), newReader(task.Conversation)
	if a.Settings.Permissions == agent.Ask {
		talk := newAsking(a.Settings.Model, task)
		program.Stdin, program.Reader = bytes.NewReader(talk.begun()), talk
	}
	return program.Run(ctx, task, exec)
}

// zone gives Codex a time zone, because it reports the end of a limit as an hour without one.
const zone = "TZ=UTC"

// modes are the arguments for each kind of permissions. A resumed conversation forgets its sandbox, and accepts it only as a setting. Everything
// means no sandbox of its own, because one can't be made inside another. Ask is for a terminal; its strictest rule allows only reading without
// asking.
var modes = map[agent.Permissions][]string{
	agent.Everything: {"--dangerously-bypass-approvals-and-sandbox"},
	agent.Edits:      {"-c", `approval_policy="never"`, "-c", `sandbox_mode="workspace-write"`},
	agent.Ask:        {"-c", `approval_policy="on-request"`, "-c", `sandbox_mode="read-only"`},
	agent.ReadOnly:   {"-c", `approval_policy="never"`, "-c", `sandbox_mode="read-only"`},
}

// quiet configures a program without a person at it. Without the last setting it would wait for a network forever. A version that does not know a
// setting prints a warning and continues.
var quiet = []string{"-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false",
	"-c", "features.unbounded_connection_retries=false"}

// arguments returns those of a call without a terminal.
func (a *Agent) arguments(task agent.Task) []string {
	if a.Settings.Permissions == agent.Ask {
		// Start Codex as a server. The model may not type into a running command, because Codex would not ask about that input.
		args := slices.Concat([]string{"app-server"}, quiet, []string{"-c", "features.unified_exec_tty=false",
			"-c", "features.default_mode_request_user_input=true", "-c", "suppress_unstable_features_warning=true"}, endpoint(task.Endpoint))
		if a.Settings.ProjectSettings {
			args = append(args, trust(task.Dir)...)
		}
		return append(args, a.Settings.Args...)
	}
	args, c := []string{"exec"}, task.Conversation
	resume := c != nil && agent.ValidConversation(c.ID)
	if resume {
		args = append(args, "resume")
	}
	args = slices.Concat(args, []string{"--json", "--skip-git-repo-check"}, quiet, modes[a.Settings.Permissions])
	if task.Endpoint != nil { // without the user's own configuration
		args = append(append(args, "--ignore-user-config"), endpoint(task.Endpoint)...)
	}
	if a.Settings.Model != "" {
		args = append(args, "--model="+a.Settings.Model)
	}
	args = append(args, a.Settings.Args...)
	if resume {
		args = append(args, c.ID)
	}
	return append(args, "-") // the prompt is on standard input
}

// trust applies the settings of the repository in dir, which may start programs.
func trust(dir string) []string {
	return []string{"-c", "projects={" + strconv.Quote(dir) + `={trust_level="trusted"}}`}
}

// keyVariable holds the key: the provider names the variable.
const keyVariable = "SIGNALBOX_MODEL_KEY"

// endpoint returns the settings that lead Codex to a model other than its vendor's: a provider of our own, and no plugins, which it would fetch from
// GitHub. One retry gets over a connection that broke in hours of work.
func endpoint(e *agent.Endpoint) []string {
	if e == nil {
		return nil
	}
	provider := `{name="signalbox",base_url=` + strconv.Quote(e.URL+"/v1") + `,env_key="` + keyVariable + `",wire_api="responses",` +
		`request_max_retries=0,stream_max_retries=1,stream_idle_timeout_ms=600000}`
	return []string{"-c", "features.plugins=false", "-c", `model_provider="signalbox"`, "-c", "model_providers.signalbox=" + provider}
}
