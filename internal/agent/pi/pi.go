// Package pi drives pi: its command line, its events and its words for what
// went wrong. It refuses to judge the work.
package pi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// Oldest is the oldest version that was seen to work, with a scripted model; it had the name @mariozechner/pi-coding-agent.
// Install is the command that installs it.
const (
	Oldest  = "0.55.0"
	Install = "npm install -g @earendil-works/pi-coding-agent"
)

// Agent is the driver. It implements agent.Agent.
type Agent struct{ agent.Driver }

// New checks the settings. Check reports whether the program exists.
func New(settings agent.Settings) (*Agent, error) {
	driver, err := agent.NewDriver(settings, agent.Program{Title: "pi", Oldest: Oldest, Install: Install, Args: []string{"pi"},
		Env: slices.Concat([]string{"PI_OFFLINE=1", "PI_TELEMETRY=0", "PI_SKIP_VERSION_CHECK=1"}, settings.Env)})
	if err != nil {
		return nil, err
	}
	return &Agent{driver}, nil
}

// Run implements agent.Agent.
func (a *Agent) Run(ctx context.Context, task agent.Task, exec process.Executor) (agent.Result, error) {
	program := a.Located()
	if task.Terminal {
		// Pi would take a prompt that begins with a dash or an at sign for an option or a file. A space before it changes nothing else.
		args := slices.Clone(tools[a.Settings.Permissions])
		if a.Settings.Model != "" {
			args = append(args, "--model", a.Settings.Model)
		}
		program.Args = append(program.Args, append(slices.Concat(args, a.Settings.Args), " "+task.Prompt)...)
	} else {
		args := slices.Concat([]string{"--print", "--mode", "json"}, tools[a.Settings.Permissions])
		if a.Settings.Model != "" {
			args = append(args, "--model", a.Settings.Model)
		}
		if task.Conversation != nil && agent.ValidConversation(task.Conversation.ID) {
			args = append(args, "--session", task.Conversation.ID)
		}
		program.Args = append(program.Args, append(args, a.Settings.Args...)...)
		program.Stdin = strings.NewReader(task.Prompt)
		program.Reader = &reader{model: a.Settings.Model}
	}
	if task.Endpoint != nil {
		if err := a.lead(&program, task.Endpoint); err != nil {
			return agent.Result{Failure: agent.Fail(agent.Unavailable, "agent %q: %v", a.Name(), err)}, nil
		}
	}
	return program.Run(ctx, task, exec)
}

// tools are the arguments for each kind of permissions. pi never asks for permission, so it only gets the tools that it may use.
var tools = map[agent.Permissions][]string{
	agent.Everything: nil,
	agent.Edits:      {"--tools", "read,grep,find,ls,edit,write"},
	agent.ReadOnly:   {"--tools", "read,grep,find,ls"},
}

// folder holds pi's settings, models and conversations when it does not use its own login.
const folder = "~/.signalbox/pi"

// lead leads pi to the model at e. For providers that pi knows, only the address changes, so it keeps its knowledge of their models; others speak
// OpenAI's Chat Completions. Its own retries are off, because it would also wait hours for a limit without a word.
func (a *Agent) lead(p *agent.Program, e *agent.Endpoint) error {
	provider, model, ok := strings.Cut(a.Settings.Model, "/")
	if !ok || provider == "" || model == "" {
		return fmt.Errorf("model %q does not have the form \"provider/model\", which says what API to speak", a.Settings.Model)
	}
	server := map[string]any{"baseUrl": e.URL + "/v1", "api": "openai-completions", "apiKey": keyVariable, "models": []any{map[string]any{"id": model}}}
	if path, known := paths[provider]; known {
		server = map[string]any{"baseUrl": e.URL + path, "apiKey": keyVariable}
	}
	models, err := json.Marshal(map[string]any{"providers": map[string]any{provider: server}})
	if err != nil {
		return fmt.Errorf("write models of agent %q: %w", a.Name(), err)
	}
	p.Files = map[string]string{
		folder + "/models.json":   string(models),
		folder + "/settings.json": `{"retry": {"enabled": false, "provider": {"maxRetries": 0}}, "enableInstallTelemetry": false}`,
	}
	p.Env = slices.Concat(p.Env, []string{
		"ANTHROPIC_API_KEY=" + e.Key, "ANTHROPIC_OAUTH_TOKEN=", "OPENAI_API_KEY=" + e.Key, "GEMINI_API_KEY=" + e.Key,
		"PI_CODING_AGENT_DIR=" + folder, "PI_CODING_AGENT_SESSION_DIR=" + folder + "/sessions", keyVariable + "=" + e.Key,
	})
	return nil
}

// paths are the beginnings of the APIs of providers that pi knows.
var paths = map[string]string{"anthropic": "", "openai": "/v1", "google": "/v1beta"}

// keyVariable holds the key: models.json names the variable.
const keyVariable = "SIGNALBOX_MODEL_KEY"
