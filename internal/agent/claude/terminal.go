package claude

import (
	"encoding/json"
	"slices"

	"signalbox/internal/agent"
)

// settingsFile is where it keeps what a person answered on its first start.
const settingsFile = "~/.claude.json"

// atTerminal is it with its own interface.
func (a *Agent) atTerminal(task agent.Task) agent.Program {
	program := a.program().Located()
	if a.settings.Permissions != agent.Ask { // which its own interface does by itself
		program.Args = append(program.Args, modes[a.settings.Permissions]...)
	}
	if !a.settings.ProjectSettings {
		program.Args = append(program.Args, usersOwn...)
	}
	if a.settings.Model != "" {
		program.Args = append(program.Args, "--model="+a.settings.Model)
	}
	program.Args = slices.Concat(program.Args, a.settings.Args, []string{"--", task.Prompt})
	program.Env = slices.Concat(program.Env, endpoint(task.Endpoint))
	if task.Endpoint != nil { // with a login of its own, the file is the person's
		program.Files = map[string]string{settingsFile: answered(task)}
	}
	return program
}

// answered are the answers to what it asks first of all: whether it is known, whether the key is to
// be used (it compares the end of it), and whether the folder is trusted.
func answered(task agent.Task) string {
	key := task.Endpoint.Key
	text, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "bypassPermissionsModeAccepted": true,
		"customApiKeyResponses": map[string]any{"approved": []string{key[max(0, len(key)-20):]}, "rejected": []string{}},
		"projects":              map[string]any{task.Dir: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	})
	if err != nil {
		panic(err) // strings are always encoded
	}
	return string(text)
}
