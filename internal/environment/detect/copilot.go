package detect

import (
	"errors"
	"maps"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
)

type copilotJob struct {
	Steps []copilotStep `yaml:"steps"`
}

type copilotStep struct {
	If        yaml.Node            `yaml:"if"`
	Uses      string               `yaml:"uses"`
	With      map[string]yaml.Node `yaml:"with"`
	Run       string               `yaml:"run"`
	Shell     string               `yaml:"shell"`
	Directory string               `yaml:"working-directory"`
}

func (s *survey) copilotSteps(f *File, text []byte) error {
	var p struct {
		Jobs map[string]copilotJob `yaml:"jobs"`
	}
	if err := yaml.Unmarshal(text, &p); err != nil {
		return err
	}
	job, found := p.Jobs["copilot-setup-steps"]
	if !found {
		return errors.New("has no job copilot-setup-steps")
	}
	d := Description{Versions: map[string]string{}}
	for _, step := range job.Steps {
		// The version of actions/setup-go is its go-version, and so on.
		action, _, _ := strings.Cut(step.Uses, "@")
		if tool, isSetUp := strings.CutPrefix(path.Base(action), "setup-"); isSetUp {
			maps.Copy(d.Versions, s.want(f, map[string]string{tool: step.With[tool+"-version"].Value}))
		}
		if command, why := step.command(); why != "" {
			s.note("%s: left out the step %q: %s", f.Path, short(step.Run), why)
		} else if command != "" {
			d.Commands = append(d.Commands, command)
		}
	}
	s.describe(f, d)
	return nil
}

// command returns the step's command, in its folder, or why it runs only on GitHub.
func (c *copilotStep) command() (command, why string) {
	switch {
	case c.Run == "":
		return "", ""
	case strings.Contains(c.Run+c.Directory, "${{"):
		return "", "it has GitHub expressions"
	case !c.If.IsZero():
		return "", "it has a condition"
	case c.Shell != "" && !strings.HasPrefix(c.Shell, "bash") && !strings.HasPrefix(c.Shell, "sh"):
		return "", "it is for the shell " + short(c.Shell)
	case c.Directory == "":
		return apart(c.Run, ""), ""
	case !plain(path.Clean(c.Directory)):
		return "", "its folder is not in the project"
	}
	return apart(c.Run, path.Clean(c.Directory)), ""
}
