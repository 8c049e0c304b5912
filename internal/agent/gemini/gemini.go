// Package gemini drives Gemini CLI: its command line, its events and its words
// for what went wrong. It refuses to judge the work.
package gemini

import (
	"context"
	"slices"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

const usualName = "gemini"

// Agent is the driver.
type Agent struct {
	settings agent.Settings
}

// New checks the settings. Whether the program is there is Check's answer.
func New(settings agent.Settings) (*Agent, error) {
	settings, err := settings.Complete(usualName)
	if err != nil {
		return nil, err
	}
	return &Agent{settings}, nil
}

// Name implements agent.Agent.
func (a *Agent) Name() string { return a.settings.Name }

// Run implements agent.Agent.
func (a *Agent) Run(ctx context.Context, task agent.Task, exec process.Executor) (agent.Result, error) {
	if task.Terminal {
		return a.atTerminal(task).Run(ctx, task, exec)
	}
	program := a.program().Located()
	program.Args = append(program.Args, a.arguments(task.Conversation)...)
	program.Stdin = strings.NewReader(task.Prompt)
	program.Reader = &reader{}
	if task.Endpoint != nil {
		program.Env = slices.Concat(program.Env, endpoint(task.Endpoint))
		program.Files = map[string]string{"~/.gemini/settings.json": settings}
	}
	return program.Run(ctx, task, exec)
}

// Check implements agent.Agent.
func (a *Agent) Check(ctx context.Context) (version string, err error) {
	return a.program().Version(ctx)
}

// A folder that nobody trusted would be one in which it may do nothing unasked.
func (a *Agent) program() agent.Program {
	return agent.Program{Agent: a.settings.Name, Args: []string{a.settings.Program},
		Env: slices.Concat([]string{"GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_TELEMETRY_ENABLED=false"}, a.settings.Env)}
}

// modes are its own names for what it may do unasked. What it would have to ask for is denied, since
// nobody is there.
var modes = map[agent.Permissions]string{agent.Everything: "yolo", agent.Edits: "auto_edit", agent.ReadOnly: "plan"}

func (a *Agent) arguments(c *agent.Conversation) []string {
	args := []string{"--output-format=stream-json", "--approval-mode=" + modes[a.settings.Permissions]}
	if a.settings.Model != "" {
		args = append(args, "--model="+a.settings.Model)
	}
	if c != nil && agent.ValidConversation(c.ID) {
		args = append(args, "--resume="+c.ID)
	}
	return append(args, a.settings.Args...)
}

// settings are for a program that nobody watches, and that does not try again by itself.
const settings = `{"security": {"auth": {"selectedType": "gemini-api-key"}},` +
	` "general": {"maxAttempts": 1, "retryFetchErrors": false, "disableAutoUpdate": true, "enableAutoUpdate": false},` +
	` "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}}`

// endpoint is how it is led to a model other than its vendor's. Every other login is emptied, so that
// none goes before the key.
func endpoint(e *agent.Endpoint) []string {
	return []string{"GOOGLE_GEMINI_BASE_URL=" + e.URL, "GEMINI_API_KEY=" + e.Key,
		"GOOGLE_API_KEY=", "GOOGLE_GENAI_USE_VERTEXAI=", "GOOGLE_GENAI_USE_GCA="}
}
