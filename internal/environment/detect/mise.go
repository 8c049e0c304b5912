package detect

import (
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

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

// toolVersions reads "nodejs 22.1.0" lines. The first version of a tool counts.
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

// versionFile reads a file whose first line is a version.
func (s *survey) versionFile(f *File, text []byte) error {
	tool := Node
	if f.Kind == ".python-version" {
		tool = Python
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	versions := s.want(f, map[string]string{tool: line})
	if len(versions) == 0 {
		return fmt.Errorf("%q is not a version", short(line))
	}
	s.describe(f, Description{Versions: versions})
	return nil
}
