package claude

import (
	"encoding/json"
	"slices"

	"signalbox/internal/agent"
)

// settingsFile is where it keeps what a person answered on its first start. It is never the person's
// own: that one names every project of theirs, and is written beside a lock that ours would not see.
const settingsFile = "~/.claude.json"

// atTerminal is it with its own interface.
func (a *Agent) atTerminal(task agent.Task) agent.Program {
	program := a.Located()
	mode := modes[a.Settings.Permissions]
	switch a.Settings.Permissions {
	case agent.Ask: // at the terminal; without a mode it would decide by itself what to ask
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
