package agent_test

import (
	"testing"

	"signalbox/internal/agent"
)

func TestSettingsNameTheUsualProgram(t *testing.T) {
	t.Parallel()
	got, err := agent.Settings{Name: "a", Permissions: agent.Edits}.Complete("pi")
	if err != nil || got.Program != "pi" || got.Name != "a" || got.Permissions != agent.Edits {
		t.Errorf("Complete = %+v, %v", got, err)
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
		if _, err := wrong.Complete("pi"); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
