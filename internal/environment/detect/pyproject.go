package detect

import (
	"maps"
	"slices"

	"github.com/pelletier/go-toml/v2"
)

func (s *survey) pyproject(f *File, text []byte) error {
	var p struct {
		BuildSystem any `toml:"build-system"`
		Project     *struct {
			Dependencies []any            `toml:"dependencies"`
			Optional     map[string][]any `toml:"optional-dependencies"`
			Python       any              `toml:"requires-python"`
		} `toml:"project"`
		Groups map[string][]any `toml:"dependency-groups"`
		Tool   struct {
			Poetry *struct {
				Dependencies map[string]any `toml:"dependencies"`
				Dev          map[string]any `toml:"dev-dependencies"`
				Group        map[string]struct {
					Dependencies map[string]any `toml:"dependencies"`
				} `toml:"group"`
			} `toml:"poetry"`
		} `toml:"tool"`
	}
	if err := toml.Unmarshal(text, &p); err != nil {
		return err
	}
	m := s.module(f.Path)
	m.installable = m.installable || p.Project != nil || p.BuildSystem != nil
	m.project = p.Project != nil
	if p.Project != nil {
		s.dependAll(f, p.Project.Dependencies)
		for _, name := range slices.Sorted(maps.Keys(p.Project.Optional)) {
			s.dependAll(f, p.Project.Optional[name])
			if slices.Contains(testExtras, name) {
				m.extras = append(m.extras, name)
			}
		}
		if version, isText := p.Project.Python.(string); isText {
			s.want(f, map[string]string{Python: version})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Groups)) {
		s.dependAll(f, p.Groups[name])
	}
	if poetry := p.Tool.Poetry; poetry != nil {
		m.poetry = true
		s.dependPoetry(f, poetry.Dependencies)
		s.dependPoetry(f, poetry.Dev)
		for _, name := range slices.Sorted(maps.Keys(poetry.Group)) {
			s.dependPoetry(f, poetry.Group[name].Dependencies)
		}
	}
	return nil
}

func (s *survey) dependAll(f *File, all []any) {
	for _, one := range all {
		if text, isText := one.(string); isText {
			s.depends(f, text)
		}
	}
}

// dependPoetry records a table of Poetry's or Pipenv's: name to constraint, or to a table with one.
func (s *survey) dependPoetry(f *File, all map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		constraint, isText := all[name].(string)
		if table, isTable := all[name].(map[string]any); isTable && !isText {
			constraint, _ = table["version"].(string)
		}
		if name == "python" {
			s.want(f, map[string]string{Python: constraint})
			continue
		}
		s.depend(f, "pypi", name, constraint)
	}
}

func (s *survey) pipfile(f *File, text []byte) error {
	var p struct {
		Packages map[string]any `toml:"packages"`
		Dev      map[string]any `toml:"dev-packages"`
		Requires map[string]any `toml:"requires"`
	}
	if err := toml.Unmarshal(text, &p); err != nil {
		return err
	}
	s.dependPoetry(f, p.Packages)
	s.dependPoetry(f, p.Dev)
	version, _ := p.Requires["python_version"].(string)
	s.want(f, map[string]string{Python: version})
	return nil
}
