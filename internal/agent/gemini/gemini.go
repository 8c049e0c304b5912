// Package gemini drives Gemini CLI: its command line, its events and its words
// for what went wrong. It refuses to judge the work.
package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/agent/acp"
	"signalbox/internal/process"
)

// Oldest is the oldest version that was seen to work, with a scripted model: 0.45.2 forgets a conversation in which it asks, 0.38.0 takes an unknown
// conversation for a new one, and 0.29.0 refuses --acp.
// Install is the command that installs it.
const (
	Oldest  = "0.52.0"
	Install = "npm install -g @google/gemini-cli"
)

// Agent is the driver. It implements agent.Agent.
type Agent struct{ agent.Driver }

// New checks the settings. Check reports whether the program exists.
func New(settings agent.Settings) (*Agent, error) {
	driver, err := agent.NewDriver(settings, agent.Program{Title: "Gemini CLI", Oldest: Oldest, Install: Install, Args: []string{"gemini"},
		Env: slices.Concat([]string{trusted, "GEMINI_TELEMETRY_ENABLED=false"}, settings.Env)}, agent.Ask)
	if err != nil {
		return nil, err
	}
	return &Agent{driver}, nil
}

// Run implements agent.Agent.
func (a *Agent) Run(ctx context.Context, task agent.Task, exec process.Executor) (agent.Result, error) {
	if task.Terminal {
		program := a.Located()
		program.Args = append(program.Args, "--approval-mode="+modes[a.Settings.Permissions])
		if a.Settings.Model != "" {
			program.Args = append(program.Args, "--model="+a.Settings.Model)
		}
		program.Args = slices.Concat(program.Args, a.Settings.Args, []string{"--prompt-interactive=" + task.Prompt})
		if task.Endpoint != nil {
			program.Env = slices.Concat(program.Env, endpoint(task.Endpoint))
			program.Files = files(task)
		}
		return program.Run(ctx, task, exec)
	}
	program := a.Located()
	program.Env = append([]string{single}, program.Env...)
	if a.Settings.Permissions == agent.Ask && !a.Settings.ProjectSettings {
		program.Env[slices.Index(program.Env, trusted)] = "GEMINI_CLI_TRUST_WORKSPACE=false"
	}
	c := task.Conversation
	args := []string{"--output-format=stream-json", "--approval-mode=" + modes[a.Settings.Permissions]}
	if a.Settings.Permissions == agent.Ask { // the protocol names the conversation
		args[0], c = "--acp", nil
	}
	if a.Settings.Model != "" {
		args = append(args, "--model="+a.Settings.Model)
	}
	if c != nil && agent.ValidConversation(c.ID) {
		args = append(args, "--resume="+c.ID)
	}
	program.Args = append(program.Args, append(args, a.Settings.Args...)...)
	program.Stdin, program.Reader = strings.NewReader(task.Prompt), &reader{}
	if a.Settings.Permissions == agent.Ask {
		// Gemini CLI would take a prompt that begins like one of its own commands for that command.
		if begin := strings.TrimSpace(task.Prompt); strings.HasPrefix(begin, "/") || strings.HasPrefix(begin, "$") {
			task.Prompt = "Your task:\n" + task.Prompt
		}
		talk := acp.New(dialect, a.Settings.Model, task)
		program.Stdin, program.Reader = bytes.NewReader(talk.Begin()), talk
	}
	if task.Endpoint != nil {
		program.Env = slices.Concat(program.Env, endpoint(task.Endpoint))
		program.Files = files(task)
	}
	return program.Run(ctx, task, exec)
}

// trusted: in an untrusted folder it may do nothing without asking, and ignores the folder's settings.
const trusted = "GEMINI_CLI_TRUST_WORKSPACE=true"

// single prevents a second process: otherwise Gemini CLI starts itself again with a larger heap, and loads all of its 20 MB twice. Only in a terminal
// does it need the first process, to start anew after its settings are changed. A configuration's own env takes precedence.
const single = "GEMINI_CLI_NO_RELAUNCH=true"

// modes are its own names for what it may do without asking. Without a person to ask, its requests are denied.
var modes = map[agent.Permissions]string{agent.Everything: "yolo", agent.Edits: "auto_edit", agent.ReadOnly: "plan", agent.Ask: "default"}

// settings are for a program without a person at it, and disable its own retries. They also disable its cleanup: every resumed conversation leaves
// an empty file with the same name beside its own, and the next call would remove both.
const settings = `{"security": {"auth": {"selectedType": "gemini-api-key"}},` +
	` "general": {"maxAttempts": 1, "retryFetchErrors": false, "disableAutoUpdate": true, "enableAutoUpdate": false,` +
	` "sessionRetention": {"enabled": false}},` +
	` "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}}`

// files returns the settings, and the rule that allows the reporting commands in any mode.
func files(task agent.Task) map[string]string {
	files := map[string]string{"~/.gemini/settings.json": settings}
	if prefixes, err := json.Marshal(task.Reports); err == nil && len(task.Reports) > 0 {
		files["~/.gemini/policies/signalbox.toml"] = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = " + string(prefixes) + "\ndecision = \"allow\"\npriority = 999\n"
	}
	return files
}

// endpoint returns the variables that lead Gemini CLI to a model other than its vendor's. Every other login is emptied, so that none takes precedence
// over the key.
func endpoint(e *agent.Endpoint) []string {
	return []string{"GOOGLE_GEMINI_BASE_URL=" + e.URL, "GEMINI_API_KEY=" + e.Key,
		"GOOGLE_API_KEY=", "GOOGLE_GENAI_USE_VERTEXAI=", "GOOGLE_GENAI_USE_GCA="}
}
