// Package opencode drives opencode: its command line, its events and its words
// for what went wrong. It refuses to judge the work.
package opencode

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/agent/acp"
	"signalbox/internal/process"
)

// Oldest is the oldest version that was seen to work, with a scripted model: 1.14.34 does not say what it asks to be allowed.
// Install is the command that installs it.
const (
	Oldest  = "1.17.0"
	Install = "npm install -g opencode-ai"
)

// Agent is the driver. It implements agent.Agent.
type Agent struct{ agent.Driver }

// New checks the settings. Check reports whether the program exists.
func New(settings agent.Settings) (*Agent, error) {
	env := slices.Concat(quiet, settings.Env)
	if !settings.ProjectSettings {
		env = append(env, "OPENCODE_DISABLE_PROJECT_CONFIG=1")
	}
	driver, err := agent.NewDriver(settings, agent.Program{Title: "opencode", Oldest: Oldest, Install: Install, Args: []string{"opencode"},
		Env: env}, agent.Ask)
	if err != nil {
		return nil, err
	}
	return &Agent{driver}, nil
}

// Run implements agent.Agent.
func (a *Agent) Run(ctx context.Context, task agent.Task, exec process.Executor) (agent.Result, error) {
	program := a.Located()
	config, err := a.config(task)
	if err != nil {
		return agent.Result{Failure: agent.Fail(agent.Unavailable, "agent %q: %v", a.Name(), err)}, nil
	}
	program.Env = append(program.Env, "OPENCODE_CONFIG_CONTENT="+config)
	if e := task.Endpoint; e != nil { // its default plugins are for logins
		program.Env = append(program.Env, keyVariable+"="+e.Key, "OPENCODE_DISABLE_DEFAULT_PLUGINS=1")
	}
	if task.Terminal {
		if a.Settings.Model != "" {
			program.Args = append(program.Args, "--model="+a.Settings.Model)
		}
		program.Args = slices.Concat(program.Args, a.Settings.Args, []string{"--prompt=" + task.Prompt})
		return program.Run(ctx, task, exec)
	}
	program.Args = append(program.Args, a.arguments(task.Conversation)...)
	program.Stdin, program.Reader = strings.NewReader(task.Prompt), &reader{model: a.Settings.Model}
	if a.Settings.Permissions == agent.Ask {
		talk := acp.New(dialect, a.Settings.Model, task)
		program.Stdin, program.Reader = bytes.NewReader(talk.Begin()), talk
	}
	return program.Run(ctx, task, exec)
}

// quiet configures a program without a person at it. Otherwise it would download language servers from their vendors.
var quiet = []string{
	"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_SHARE=1",
}

// arguments include logging of warnings to standard error: the only sign of a limit for which it waits silently. The number of its retries can't be
// configured.
func (a *Agent) arguments(c *agent.Conversation) []string {
	logs := []string{"--print-logs", "--log-level=WARN"}
	if a.Settings.Permissions == agent.Ask { // the protocol names the conversation, and the configuration the model
		return slices.Concat([]string{"acp"}, logs, a.Settings.Args)
	}
	args := append([]string{"run", "--format=json"}, logs...)
	if a.Settings.Model != "" {
		args = append(args, "--model="+a.Settings.Model)
	}
	if c != nil && agent.ValidConversation(c.ID) {
		args = append(args, "--session="+c.ID)
	}
	return append(args, a.Settings.Args...)
}

// permissions are what it may do without asking. Any request for permission would be rejected and end its work, so the settings leave nothing to
// ask for.
var permissions = map[agent.Permissions]map[string]string{
	agent.Everything: {"*": "allow"},
	agent.Edits:      {"*": "allow", "bash": "deny", "external_directory": "deny", "webfetch": "deny", "websearch": "deny"},
	agent.ReadOnly:   looking("deny"),
	agent.Ask:        looking("ask"),
}

// looking allows the tools that change nothing, and gives the rest the verdict rest.
func looking(rest string) map[string]string {
	return map[string]string{"*": rest, "read": "allow", "grep": "allow", "glob": "allow", "list": "allow", "lsp": "allow",
		"todowrite": "allow", "todoread": "allow", "skill": "allow"}
}

// config returns opencode's configuration, which takes precedence over a repository's.
func (a *Agent) config(task agent.Task) (string, error) {
	// Of the patterns that match a command, the last one counts; the star comes before all others.
	all := map[string]any{}
	for name, verdict := range permissions[a.Settings.Permissions] {
		all[name] = verdict
	}
	rest := cmp.Or(permissions[a.Settings.Permissions]["bash"], permissions[a.Settings.Permissions]["*"])
	if len(task.Reports) > 0 && rest != "allow" {
		commands := map[string]string{"*": rest}
		for _, command := range task.Reports {
			commands[command+" *"] = "allow"
		}
		all["bash"] = commands
	}
	config := map[string]any{"permission": all, "share": "disabled", "autoupdate": false}
	if !task.Terminal { // no one reads the session title, and asking the model for one is another paid request
		config["agent"] = map[string]any{"title": map[string]any{"disable": true}}
	}
	if a.Settings.Permissions == agent.Ask && a.Settings.Model != "" {
		config["model"] = a.Settings.Model
	}
	if !a.Settings.ProjectSettings {
		config["instructions"] = []string{path.Join(task.Dir, "AGENTS.md"), path.Join(task.Dir, "CLAUDE.md")}
	}
	if e := task.Endpoint; e != nil {
		provider, model, ok := strings.Cut(a.Settings.Model, "/")
		if !ok || provider == "" || model == "" {
			return "", fmt.Errorf("model %q does not have the form \"provider/model\", which says what API to speak", a.Settings.Model)
		}
		config["model"], config["small_model"] = a.Settings.Model, a.Settings.Model
		config["enabled_providers"] = []string{provider}
		config["provider"] = map[string]any{provider: endpoint(e, provider, model)}
	}
	text, err := json.Marshal(config)
	return string(text), err
}

// endpoint returns a provider at e. Models of Anthropic are spoken to in its Messages API, all others in OpenAI's Chat Completions.
func endpoint(e *agent.Endpoint, provider, model string) map[string]any {
	library := "@ai-sdk/openai-compatible"
	if provider == "anthropic" {
		library = "@ai-sdk/anthropic"
	}
	return map[string]any{
		"npm":     library,
		"options": map[string]string{"baseURL": e.URL + "/v1", "apiKey": "{env:" + keyVariable + "}"},
		"models":  map[string]any{model: map[string]any{"tool_call": true}},
	}
}

// keyVariable holds the key. The configuration only names it, because the agent's tools can read the configuration and some show it.
const keyVariable = "SIGNALBOX_MODEL_KEY"
