package detect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// digestScripts reads the files that the set-up's commands start, so that a
// change in one of them is seen.
func (s *survey) digestScripts(ctx context.Context) error {
	i := slices.IndexFunc(s.result.Descriptions, func(d Description) bool { return d.Path == s.result.SetUpSource })
	if i < 0 {
		return nil
	}
	d := s.result.Descriptions[i]
	for _, name := range s.scripts(strings.Join(d.Commands, "\n") + "\n" + d.recipe) {
		if !s.known[name] {
			s.known[name] = true
			s.found = append(s.found, candidate{name, format{kind: script}})
		}
	}
	for s.next < len(s.found) {
		if err := s.look(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *survey) devcontainer(f *File, text []byte) error {
	var p struct {
		Image string `json:"image"`
		Old   string `json:"dockerFile"`
		Build struct {
			Dockerfile string `json:"dockerfile"`
		} `json:"build"`
		Features      map[string]any `json:"features"`
		OnCreate      any            `json:"onCreateCommand"`
		UpdateContent any            `json:"updateContentCommand"`
		PostCreate    any            `json:"postCreateCommand"`
	}
	if err := json.Unmarshal(withoutComments(text), &p, lenient); err != nil {
		return err
	}
	d := Description{Image: p.Image, Dockerfile: p.Build.Dockerfile + p.Old, Versions: s.want(f, features(p.Features))}
	if d.Dockerfile != "" {
		if d.Dockerfile = path.Join(path.Dir(f.Path), d.Dockerfile); !plain(d.Dockerfile) {
			return fmt.Errorf("its Dockerfile %q is not in the project", short(d.Dockerfile))
		}
	}
	for _, value := range []any{p.OnCreate, p.UpdateContent, p.PostCreate} {
		d.Commands = append(d.Commands, devcontainerCommands(value)...)
	}
	d.Commands = slices.DeleteFunc(d.Commands, func(c string) bool {
		variable := strings.Contains(c, "${localEnv:") || strings.Contains(c, "${containerWorkspaceFolder") || strings.Contains(c, "${localWorkspaceFolder")
		if variable {
			s.note("%s: left out %q: its variables are an editor's", f.Path, short(c))
		}
		return variable
	})
	s.describe(f, d)
	return nil
}

// devcontainerCommands: text is for a shell, a list is a program and its
// arguments, an object has several of both.
func devcontainerCommands(value any) (commands []string) {
	switch value := value.(type) {
	case string:
		return []string{apart(value, "")}
	case []any:
		var words []string
		for _, one := range value {
			text, _ := one.(string)
			words = append(words, word(text))
		}
		return []string{strings.Join(words, " ")}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if _, nested := value[name].(map[string]any); !nested {
				commands = append(commands, devcontainerCommands(value[name])...)
			}
		}
	}
	return commands
}

// features are named ghcr.io/devcontainers/features/node:1 and carry the tool's version.
func features(all map[string]any) map[string]string {
	versions := map[string]string{}
	for name, options := range all {
		tool, _, _ := strings.Cut(path.Base(name), ":")
		version, isText := options.(string)
		if table, isTable := options.(map[string]any); isTable && !isText {
			version, _ = table["version"].(string)
		}
		versions[tool] = version
	}
	return versions
}

func (s *survey) mise(f *File, text []byte) error {
	var p struct {
		Tools map[string]any `toml:"tools"`
		Tasks map[string]any `toml:"tasks"`
	}
	if err := toml.Unmarshal(text, &p); err != nil {
		return err
	}
	versions := map[string]string{}
	for tool, value := range p.Tools {
		if list, isList := value.([]any); isList && len(list) > 0 {
			value = list[0]
		}
		if table, isTable := value.(map[string]any); isTable {
			value = table["version"]
		}
		versions[tool], _ = value.(string)
	}
	d := Description{Versions: s.want(f, versions)}
	for _, name := range setUpTargets {
		if d.Commands = miseTask(p.Tasks[name]); len(d.Commands) > 0 {
			break
		}
	}
	for _, name := range checkTargets {
		d.Checks = append(d.Checks, miseTask(p.Tasks[name])...)
	}
	s.describe(f, d)
	return nil
}

func miseTask(value any) (commands []string) {
	if table, isTable := value.(map[string]any); isTable {
		value = table["run"]
	}
	switch value := value.(type) {
	case string:
		return []string{apart(value, "")}
	case []any:
		for _, one := range value {
			text, _ := one.(string)
			commands = append(commands, apart(text, ""))
		}
	}
	return commands
}

// toolVersions reads "nodejs 22.1.0" lines; the first version of a tool is the wanted one.
func (s *survey) toolVersions(f *File, text []byte) error {
	versions := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		if fields := strings.Fields(line); len(fields) > 1 {
			versions[fields[0]] = fields[1]
		}
	}
	s.describe(f, Description{Versions: s.want(f, versions)})
	return nil
}

// versionFile reads a file with nothing but a version in its first line.
func (s *survey) versionFile(f *File, text []byte) error {
	tool := Node
	if f.Kind == ".python-version" {
		tool = Python
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	versions := s.want(f, map[string]string{tool: line})
	if len(versions) == 0 {
		return fmt.Errorf("%q is no version", short(line))
	}
	s.describe(f, Description{Versions: versions})
	return nil
}

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
		maps.Copy(d.Versions, s.want(f, step.versions()))
		if command, why := step.command(); why != "" {
			s.note("%s: left out the step %q: %s", f.Path, short(step.Run), why)
		} else if command != "" {
			d.Commands = append(d.Commands, command)
		}
	}
	s.describe(f, d)
	return nil
}

// command is what a step runs, in its folder; why says what keeps it from running elsewhere.
func (c *copilotStep) command() (command, why string) {
	switch {
	case c.Run == "":
		return "", ""
	case strings.Contains(c.Run+c.Directory, "${{"):
		return "", "it has expressions of GitHub's"
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

// versions of actions/setup-go are its go-version, and so on.
func (c *copilotStep) versions() map[string]string {
	action, _, _ := strings.Cut(c.Uses, "@")
	tool, isSetUp := strings.CutPrefix(path.Base(action), "setup-")
	value, given := c.With[tool+"-version"]
	if !isSetUp || !given {
		return nil
	}
	return map[string]string{tool: value.Value}
}
