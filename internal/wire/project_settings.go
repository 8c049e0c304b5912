package wire

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/config"
	"signalbox/internal/workflow"
)

// brought are the files and folders of a repository in which an agent looks for settings: they start
// programs (hooks, servers of tools, plugins) or say what is allowed.
var brought = map[string][]string{
	config.DriverClaude:   {".claude/settings.json", ".claude/settings.local.json", ".mcp.json"},
	config.DriverCodex:    {".codex/"},
	config.DriverOpencode: {"opencode.json", "opencode.jsonc", ".opencode/"},
	config.DriverPi:       {".pi/"},
	config.DriverGemini:   {".gemini/settings.json", ".gemini/.env", ".gemini/extensions/"},
}

// leavesOut are the drivers that can do without them.
var leavesOut = []string{config.DriverClaude, config.DriverOpencode}

// BroughtSettings says of each agent of the configuration which settings the repository brings for it, and
// whether they count.
func (p *Project) BroughtSettings(names []string) (notes []string) {
	var told []string
	for _, role := range workflow.Roles {
		name, c, ok := p.Config.AgentFor(string(role), p.WorkflowName())
		v, known := VendorOf(c.Driver)
		if !ok || !known || slices.Contains(told, name) {
			continue
		}
		told = append(told, name)
		counts := "they count inside the sandbox"
		switch {
		case c.ProjectSettings:
			counts += " (agents." + name + ".project_settings)"
		case slices.Contains(leavesOut, c.Driver):
			counts = "they are left out, unless agents." + name + ".project_settings is true"
		}
		if found := settingsAmong(names, brought[c.Driver]); len(found) > 0 {
			notes = append(notes, fmt.Sprintf("the repository brings settings for %s: %s; %s", v.Title, strings.Join(found, ", "), counts))
		}
	}
	return notes
}

// settingsAmong are those of the names that are wanted, or lie in a folder that is.
func settingsAmong(names, wanted []string) (found []string) {
	for _, want := range wanted {
		if slices.ContainsFunc(names, func(name string) bool {
			return name == want || strings.HasSuffix(want, "/") && strings.HasPrefix(name, want)
		}) {
			found = append(found, want)
		}
	}
	return found
}

// WarnOfSettings tells whoever begins a run what its base branch brings.
func (p *Project) WarnOfSettings(ctx context.Context, base string) error {
	if !p.UsesVendors() {
		return nil
	}
	commit, err := p.Repo.Resolve(ctx, "refs/heads/"+base)
	if err != nil {
		return fmt.Errorf("find base branch %q: %w", base, err)
	}
	names, err := p.Repo.Content(commit).List(ctx)
	if err != nil {
		return err
	}
	for _, note := range p.BroughtSettings(names) {
		p.Warn("%s", note)
	}
	return nil
}

// UsesVendors: agents that are known by name do something.
func (p *Project) UsesVendors() bool {
	for _, c := range p.Config.Agents {
		if _, known := VendorOf(c.Driver); known {
			return true
		}
	}
	return false
}
