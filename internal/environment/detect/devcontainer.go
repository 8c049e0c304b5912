package detect

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

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
