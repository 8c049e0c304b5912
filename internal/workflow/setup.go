package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// SetUpFor is the set-up of a project that nobody plans anything for: the configuration's, or what its
// files ask for; nil if there is nothing to set up.
func SetUpFor(s Settings, found Detection) *SetUp {
	j := Details{Settings: s, Detection: &found}
	return j.ChosenSetUp(nil)
}

// ImageFor is the container image that goes with it; empty leaves it to the driver.
func ImageFor(s Settings, found Detection) string {
	j := Details{Settings: s, Detection: &found}
	return j.Image()
}

// ChosenSetUp is the set-up by whoever has the first word on it: the configuration,
// the plan, the project's files. Nil means that there is nothing to set up.
func (j *Details) ChosenSetUp(planned *PlanSetUp) *SetUp {
	var s SetUp
	switch d := j.Detection; {
	case j.Settings.NoSetUp:
	case len(j.Settings.SetUp)+len(j.Settings.Verification) > 0:
		s = SetUp{Source: SetUpByConfiguration, Commands: j.Settings.SetUp, Verification: j.Settings.Verification}
	case planned != nil:
		s = j.plannedSetUp(planned)
	case d != nil:
		s = SetUp{Source: SetUpByDetection, Commands: d.SetUp, Verification: d.Verification}
	}
	s.Name = cmp.Or(j.Settings.EnvironmentName, s.Name, j.EnvironmentName())
	if len(s.Commands)+len(s.Verification) == 0 && s.Name == j.EnvironmentName() {
		return nil
	}
	return &s
}

// plannedSetUp is the plan's. What it leaves out is what the project's files ask for in the environment that it names, or that environment's
// defaults. Where it says the same as those, word for word, no model wrote it.
func (j *Details) plannedSetUp(p *PlanSetUp) SetUp {
	name := cmp.Or(j.Settings.EnvironmentName, p.Name, DefaultEnvironment)
	s := SetUp{Name: name, Source: SetUpByDefault}
	if d := j.Detection; d != nil && d.Environment == name {
		s.Source, s.Commands, s.Verification = SetUpByDetection, d.SetUp, d.Verification
	} else if d != nil {
		s.Commands, s.Verification = d.Defaults[name].SetUp, d.Defaults[name].Verification
	}
	if len(p.SetupCommands) > 0 && !slices.Equal(p.SetupCommands, s.Commands) {
		s = SetUp{Name: name, Source: SetUpByPlan, Commands: p.SetupCommands}
	}
	same := func(a, b Verification) bool { return a.Command == b.Command && a.Expected == b.Expected }
	if len(p.Verification) > 0 && !slices.EqualFunc(p.Verification, s.Verification, same) {
		s.Source, s.Verification = SetUpByPlan, p.Verification
	}
	return s
}

// Ended notes down a command that ended well and goes on to the next.
func (s *SetUp) Ended(run CommandRun, verification bool) {
	s.Next++
	if verification {
		s.Verified = append(s.Verified, run)
	} else {
		s.Ran = append(s.Ran, run)
	}
}

// SetUpComment is the text of P7 for the people on the forge.
func SetUpComment(j *Details) string {
	s := j.SetUp
	return fmt.Sprintf("## Environment setup failed\n\n**Status**: failed with a warning ⚠\n**Environment**: %s\n\n"+
		"The setup did not succeed; the work goes on with what there is.\n\n```\n%s\n```\n\n"+
		"- network retries: %d\n- corrections by the model: %d/%d\n- class of the error: %s\n",
		s.Name, strings.ReplaceAll(s.LastError(), "```", "` ` `"), s.NetworkRetries, j.Used.SetUpRepairs, j.Settings.Limits.SetUpRepairs, s.Class)
}
