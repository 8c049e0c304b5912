// Package claude drives Claude Code: its command line, its events and its words
// for what went wrong. It refuses to judge the work.
package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// Oldest is the first version that was seen to work: 2.0.1 accepts every argument used here, and 1.0.67 refuses --setting-sources. Both were installed
// and started. Install is the command that installs it.
const (
	Oldest  = "2.0.1"
	Install = "npm install -g @anthropic-ai/claude-code"
)

// Agent is the driver. It implements agent.Agent.
type Agent struct{ agent.Driver }

// New checks the settings. Check reports whether the program exists.
func New(settings agent.Settings) (*Agent, error) {
	env := slices.Concat(quiet, settings.Env)
	if !settings.ProjectSettings {
		env = append(env, "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD=1")
	}
	driver, err := agent.NewDriver(settings, agent.Program{Title: "Claude Code", Oldest: Oldest, Install: Install, Args: []string{"claude"},
		Env: env}, agent.Ask)
	if err != nil {
		return nil, err
	}
	return &Agent{driver}, nil
}

// Run implements agent.Agent.
func (a *Agent) Run(ctx context.Context, task agent.Task, exec process.Executor) (agent.Result, error) {
	if task.Terminal {
		return a.atTerminal(task).Run(ctx, task, exec)
	}
	program := a.Located()
	args := slices.Concat([]string{"--print", "--output-format=stream-json", "--verbose"}, modes[a.Settings.Permissions], reporting(task.Reports))
	if !a.Settings.ProjectSettings {
		args = append(args, usersOwn...)
	}
	if a.Settings.Model != "" {
		args = append(args, "--model="+a.Settings.Model)
	}
	if c := task.Conversation; c != nil && agent.ValidConversation(c.ID) {
		args = append(args, "--resume="+c.ID)
	}
	program.Args = append(program.Args, append(args, a.Settings.Args...)...)
	program.Env = slices.Concat(program.Env, endpoint(task.Endpoint))
	program.Stdin, program.Reader = strings.NewReader(task.Prompt), &reader{resumed: task.Conversation}
	if a.Settings.Permissions == agent.Ask {
		text := map[string]string{"type": "text", "text": task.Prompt}
		prompt := map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": []any{text}}}
		program.Stdin, program.Reader = bytes.NewReader(said(prompt)), &asking{reader: &reader{resumed: task.Conversation}, dir: task.Dir}
	}
	return program.Run(ctx, task, exec)
}

// quiet configures a program without a person at it: Signalbox decides what it may do unasked and how often it retries.
var quiet = []string{
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
	"CLAUDE_CODE_MAX_RETRIES=1",
	// As root, Claude Code skips permissions only in a declared sandbox.
	"IS_SANDBOX=1",
}

// usersOwn ignores the repository's settings: hooks, MCP servers and key helpers are programs that would start without asking. That ignores
// CLAUDE.md too, so it is read as that of an additional folder.
var usersOwn = []string{"--setting-sources=user", "--strict-mcp-config", "--add-dir=."}

// modes are the arguments for each kind of permissions. A list of tools is one argument, because further arguments would count as tools. Without a
// person to ask, requests are denied. Newer versions call the mode "default" "manual"; older ones know only "default".
var modes = map[agent.Permissions][]string{
	agent.Everything: {"--dangerously-skip-permissions"},
	agent.Edits:      {"--permission-mode=acceptEdits"},
	agent.Ask:        {"--permission-mode=default", "--permission-prompt-tool=stdio", "--input-format=stream-json"},
	agent.ReadOnly:   {"--permission-mode=default", "--disallowedTools=Edit,Write,NotebookEdit"},
}

// reporting returns the argument that allows commands with these first words. Claude Code compares every part of a compound command with the rules.
func reporting(commands []string) []string {
	var rules []string
	for _, command := range commands {
		if !strings.ContainsAny(command, "(),*:") { // these would change the rule
			rules = append(rules, "Bash("+command+":*)")
		}
	}
	if rules == nil {
		return nil
	}
	return []string{"--allowedTools=" + strings.Join(rules, ",")}
}

// endpoint returns the variables that lead Claude Code to a model other than its vendor's. Every other login is emptied, so that none takes precedence
// over the key.
func endpoint(e *agent.Endpoint) []string {
	if e == nil {
		return nil
	}
	return []string{"ANTHROPIC_BASE_URL=" + e.URL, "ANTHROPIC_API_KEY=" + e.Key,
		"ANTHROPIC_AUTH_TOKEN=", "CLAUDE_CODE_OAUTH_TOKEN=", "CLAUDE_CODE_USE_BEDROCK=", "CLAUDE_CODE_USE_VERTEX=", "CLAUDE_CODE_USE_FOUNDRY="}
}

// settingsFile holds the answers to the questions of Claude Code's first start. It is never the user's own file: that one names all of the user's
// projects, and its lock would not be seen.
const settingsFile = "~/.claude.json"

// atTerminal returns Claude Code with its own interface.
func (a *Agent) atTerminal(task agent.Task) agent.Program {
	program := a.Located()
	mode := modes[a.Settings.Permissions]
	switch a.Settings.Permissions {
	case agent.Ask: // it asks at the terminal; without a mode it would decide by itself what to ask
		mode = mode[:1]
	case agent.ReadOnly: // by default it would wait at the terminal for an answer; the oldest versions refuse this mode
		mode = slices.Concat([]string{"--permission-mode=dontAsk"}, mode[1:])
	}
	program.Args = slices.Concat(program.Args, mode, reporting(task.Reports))
	if !a.Settings.ProjectSettings {
		program.Args = append(program.Args, usersOwn...)
	}
	if a.Settings.Model != "" {
		program.Args = append(program.Args, "--model="+a.Settings.Model)
	}
	program.Args = slices.Concat(program.Args, a.Settings.Args, []string{"--", task.Prompt})
	program.Env = slices.Concat(program.Env, endpoint(task.Endpoint))
	// Claude Code asks three things at its first start: who the user is, whether to use the key (it
	// compares the key's end), and whether the folder is trusted. These are the answers.
	answers := map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "bypassPermissionsModeAccepted": true,
		"projects": map[string]any{task.Dir: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	}
	if task.Endpoint != nil {
		key := task.Endpoint.Key
		answers["customApiKeyResponses"] = map[string]any{"approved": []string{key[max(0, len(key)-20):]}, "rejected": []string{}}
	}
	text, err := json.Marshal(answers)
	if err != nil {
		panic(err) // strings are always encoded
	}
	program.Files = map[string]string{settingsFile: string(text)}
	return program
}
