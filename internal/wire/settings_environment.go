package wire

import (
	"signalbox/internal/config"
	"signalbox/internal/environment/detect"
	"signalbox/internal/workflow"
)

// EnvironmentSettings freezes what the configuration says of environments.
func (p *Project) EnvironmentSettings(s *workflow.Settings) {
	e := p.Config.Environment
	s.EnvironmentName, s.SetUp, s.Image = e.Name, e.SetUp, e.Image
	s.NoSetUp = e.SetUp != nil && len(e.SetUp)+len(e.Verify) == 0
	for _, v := range e.Verify {
		s.Verification = append(s.Verification, workflow.Verification{Command: v.Command, Expected: v.Expect})
	}
	for _, known := range detect.Catalogue(e.Images) {
		s.Environments = append(s.Environments, known.Name)
		if e.Driver == config.DriverContainer && known.Image != "" {
			if s.Images == nil {
				s.Images = map[string]string{}
			}
			s.Images[known.Name] = known.Image
		}
	}
}
