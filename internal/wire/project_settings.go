package wire

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/config"
	"signalbox/internal/workflow"
)

// brought are the files and folders of a repository in which an agent looks for settings: they start programs (hooks, tool
// servers, plugins) or say what is allowed.
var brought = map[string][]string{
	config.DriverClaude:   {".claude/settings.json", ".claude/settings.local.json", ".mcp.json"},
	config.DriverCodex:    {".codex/"},
	config.DriverOpencode: {"opencode.json", "opencode.jsonc", ".opencode/"},
	config.DriverPi:       {".pi/"},
	config.DriverGemini:   {".gemini/settings.json", ".gemini/.env", ".gemini/extensions/"},
}

// leavesOut are the drivers that can ignore them.
var leavesOut = []string{config.DriverClaude, config.DriverOpencode}

// BroughtSettings says for each known agent of the configuration which settings the repository brings for it, and whether they
// count. It lists the repository's files only if there is such an agent.
func (p *Project) BroughtSettings(ctx context.Context, list func(context.Context) ([]string, error)) (notes []string, err error) {
	var names, told []string
	for _, role := range workflow.Roles {
		name, c, ok := p.Config.AgentFor(string(role), p.WorkflowName())
		v, known := VendorOf(c.Driver)
		if !ok || !known || slices.Contains(told, name) {
			continue
		}
		if told == nil {
			if names, err = list(ctx); err != nil {
				return nil, err
			}
		}
		told = append(told, name)
		counts := "they count inside the sandbox"
		switch {
		case c.ProjectSettings:
			counts += " (agents." + name + ".project_settings)"
		case slices.Contains(leavesOut, c.Driver):
			counts = "they are left out, unless agents." + name + ".project_settings is true"
		}
		var found []string
		for _, want := range brought[c.Driver] {
			if slices.ContainsFunc(names, func(name string) bool {
				return name == want || strings.HasSuffix(want, "/") && strings.HasPrefix(name, want)
			}) {
				found = append(found, want)
			}
		}
		if len(found) > 0 {
			notes = append(notes, fmt.Sprintf("the repository brings settings for %s: %s; %s", v.Title, strings.Join(found, ", "), counts))
		}
	}
	return notes, nil
}

// WarnOfSettings tells the user which settings the base branch of a new run brings.
func (p *Project) WarnOfSettings(ctx context.Context, base string) error {
	notes, err := p.BroughtSettings(ctx, func(ctx context.Context) ([]string, error) {
		commit, err := p.Repo.Resolve(ctx, "refs/heads/"+base)
		if err != nil {
			return nil, fmt.Errorf("find base branch %q: %w", base, err)
		}
		return p.Repo.Content(commit).List(ctx)
	})
	for _, note := range notes {
		p.Warn("%s", note)
	}
	return err
}
