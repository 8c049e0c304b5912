package detect

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

var requirement = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*(.*)$`)
})

// userInfo is a name and a password in an address.
var userInfo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://[^/@\s]*@`) })

// depends records one requirement in the words of PEP 508: name [extras] constraint ; marker.
func (s *survey) depends(f *File, text string) {
	text, _, _ = strings.Cut(text, ";")
	text = strings.TrimSpace(userInfo().ReplaceAllString(text, "://"))
	match := requirement().FindStringSubmatch(text)
	switch {
	case match == nil:
	case strings.HasPrefix(match[2], "+") || strings.HasPrefix(match[2], "://"): // an address without a name
		s.depend(f, "pypi", text, "")
	default:
		s.depend(f, "pypi", match[1], strings.Trim(strings.TrimSpace(match[2]), "()"))
	}
}

var comment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|\s)#.*`) })

func (s *survey) requirements(f *File, text []byte) error {
	joined := strings.ReplaceAll(strings.ReplaceAll(string(text), "\r\n", "\n"), "\\\n", " ")
	for line := range strings.Lines(joined) {
		line = strings.TrimSpace(comment().ReplaceAllString(strings.TrimSuffix(line, "\n"), ""))
		s.asking[f.Path] = s.asking[f.Path] || line != ""
		option, value := "", ""
		if strings.HasPrefix(line, "-") {
			option, value, _ = strings.Cut(strings.Replace(line, "=", " ", 1), " ")
		}
		switch option {
		case "":
			line, _, _ = strings.Cut(line, " --") // options of this requirement: --hash
			s.depends(f, line)
		case "-r", "--requirement", "-c", "--constraint":
			s.include(f, strings.TrimSpace(value), option == "-c" || option == "--constraint")
		}
	}
	return nil
}

// include adds a file that a requirements file names, if it is the project's own.
func (s *survey) include(f *File, name string, constraint bool) {
	name = path.Join(path.Dir(f.Path), name)
	if !plain(name) || !s.has(name) || len(s.found) >= maxFiles {
		s.note("%s: %q is not included", f.Path, short(name))
		return
	}
	if s.known[name] {
		return
	}
	s.known[name] = true
	c := candidate{name, format{kind: "requirements.txt", environment: Python, manifest: true, lines: true, parse: (*survey).requirements}}
	if constraint {
		c.format = format{kind: "constraints.txt", environment: Python, lock: true}
	}
	s.found = append(s.found, c)
}

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

var (
	installRequires = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:install_requires|tests_require)\s*=\s*\[([^\]]*)\]`)
	})
	quotedText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"([^"\n]+)"|'([^'\n]+)'`) })
)

// setupPy takes out the lists that are written down; setup.py is a program, and it is not run.
func (s *survey) setupPy(f *File, text []byte) error {
	s.module(f.Path).installable = true
	for _, list := range installRequires().FindAllSubmatch(text, maxDependencies) {
		for _, quoted := range quotedText().FindAllSubmatch(list[1], maxDependencies) {
			s.depends(f, string(quoted[1])+string(quoted[2]))
		}
	}
	return nil
}
