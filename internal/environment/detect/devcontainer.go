package detect

import (
	"bytes"
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
	versions := map[string]string{}
	for name, options := range p.Features { // ghcr.io/devcontainers/features/node:1, with the tool's version
		tool, _, _ := strings.Cut(path.Base(name), ":")
		version, isText := options.(string)
		if table, isTable := options.(map[string]any); isTable && !isText {
			version, _ = table["version"].(string)
		}
		versions[tool] = version
	}
	d := Description{Image: p.Image, Dockerfile: p.Build.Dockerfile + p.Old, Versions: s.want(f, versions)}
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
			s.note("%s: left out %q: its variables belong to an editor", f.Path, short(c))
		}
		return variable
	})
	s.describe(f, d)
	return nil
}

// devcontainerCommands returns the commands of a value: text is for a shell, a list is a program and its
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

// withoutComments turns JSON with comments into JSON: comments, and commas before a closing bracket, become
// spaces.
func withoutComments(text []byte) []byte {
	out := make([]byte, 0, len(text))
	comma := -1 // the last comma, if only space followed it
	for i := 0; i < len(text); {
		c, end := text[i], i+1
		switch {
		case c == '"':
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
			out, comma = append(out, text[i:end]...), -1
		case bytes.HasPrefix(text[i:], []byte("//")), bytes.HasPrefix(text[i:], []byte("/*")):
			close, length := []byte("\n"), 0 // a line's end stays
			if text[i+1] == '*' {
				close, length = []byte("*/"), 2
			}
			if end = len(text); bytes.Contains(text[i+2:], close) {
				end = i + 2 + bytes.Index(text[i+2:], close) + length
			}
			out = append(out, ' ')
		default:
			if (c == ']' || c == '}') && comma >= 0 {
				out[comma] = ' '
			}
			if c == ',' {
				comma = len(out)
			} else if c > ' ' {
				comma = -1
			}
			out = append(out, c)
		}
		i = end
	}
	return out
}
