package agent_test

import (
	"testing"

	"signalbox/internal/agent"
)

func TestSettingsNameTheUsualProgram(t *testing.T) {
	t.Parallel()
	d, err := agent.NewDriver(agent.Settings{Name: "a", Permissions: agent.Edits}, agent.Program{Args: []string{"pi"}})
	got := d.Settings
	if err != nil || got.Program != "pi" || d.Name() != "a" || got.Permissions != agent.Edits {
		t.Errorf("NewDriver = %+v, %v", got, err)
	}
}

func TestSettingsThatDoNotHoldAreRefused(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]agent.Settings{
		"no name":            {Permissions: agent.Edits},
		"no permissions":     {Name: "a"},
		"other permissions":  {Name: "a", Permissions: "all"},
		"a relative program": {Name: "a", Permissions: agent.Edits, Program: "./pi"},
		"a flag for a model": {Name: "a", Permissions: agent.Edits, Model: "--help"},
	} {
		if _, err := agent.NewDriver(wrong, agent.Program{Args: []string{"pi"}}); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
