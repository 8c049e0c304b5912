package wire

import (
	"slices"

	"signalbox/internal/config"
	"signalbox/internal/environment/detect"
	"signalbox/internal/forge"
	"signalbox/internal/workflow"
)

// Who says how a run is set up, in the words of stage.json.
const (
	SourceConfiguration = "configuration"
	sourceDetection     = "detection"
	sourceNone          = "none"
)

// PlannedSetUp is the set-up that a run would begin with, in the words of stage.json.
type PlannedSetUp struct {
	Source string `json:"source"`
	// From names the files that the commands come from.
	From         string                  `json:"from,omitempty"`
	Environment  string                  `json:"environment_name"`
	Commands     []string                `json:"setup_commands"`
	Verification []workflow.Verification `json:"verification"`
	// Image is what containers start from; empty where the driver starts none.
	Image string `json:"image,omitempty"`
	// Planned: a planner is shown what was detected, and may answer with another set-up.
	Planned bool `json:"planner_decides"`
}

// SetUpOf is the set-up for what was found, by the order in which a run asks: configuration,
// planner, detection.
func (p *Project) SetUpOf(found *detect.Result) (PlannedSetUp, error) {
	settings, err := p.settings(forge.Request{})
	if err != nil {
		return PlannedSetUp{}, err
	}
	d := p.detection(found)
	s := PlannedSetUp{Source: sourceDetection, From: d.Source, Commands: d.SetUp, Verification: d.Verification,
		Planned: settings.HasPlanner && slices.Contains(settings.Phases, workflow.DesignCheck.Step())}
	if len(settings.SetUp)+len(settings.Verification) > 0 || settings.NoSetUp {
		s = PlannedSetUp{Source: SourceConfiguration, From: config.Name, Commands: settings.SetUp, Verification: settings.Verification}
	}
	if len(s.Commands)+len(s.Verification) == 0 {
		s.Source = sourceNone
	}
	journey := workflow.Details{Settings: settings, Detection: &d}
	s.Environment = journey.EnvironmentName()
	if p.Config.Environment.Driver == config.DriverContainer {
		s.Image = journey.Image()
		if file := p.Config.Environment.Dockerfile; file != "" {
			s.Image = "file:" + file
		}
	}
	s.Commands, s.Verification = append([]string{}, s.Commands...), append([]workflow.Verification{}, s.Verification...) // scripts want [], not null
	return s, nil
}
