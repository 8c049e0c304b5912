package detect

import (
	"cmp"
	"errors"

	"go.yaml.in/yaml/v3"

	"signalbox/internal/lazy"
)

// condaSpec matches "channel::name constraint".
var condaSpec = lazy.Pattern(`^(?:[\w./-]+::)?([A-Za-z0-9_][\w.-]*)\s*(.*)$`)

func (s *survey) conda(f *File, text []byte) error {
	var p struct {
		Dependencies []yaml.Node `yaml:"dependencies"`
	}
	if err := yaml.Unmarshal(text, &p); err != nil {
		return err
	}
	if p.Dependencies == nil {
		return errors.New("no conda file: it has no list of dependencies")
	}
	for _, node := range p.Dependencies {
		if node.Kind == yaml.ScalarNode {
			if match := condaSpec().FindStringSubmatch(node.Value); match != nil {
				if match[1] == Python {
					s.want(f, map[string]string{Python: match[2]})
				}
				s.depend(f, "conda", match[1], match[2])
			}
			continue
		}
		// No Decode here: decoding each part would follow as many YAML aliases as decoding the whole file.
		for i := 1; i < len(node.Content) && node.Kind == yaml.MappingNode; i += 2 {
			if node.Content[i-1].Value != "pip" || node.Content[i].Kind != yaml.SequenceNode {
				continue
			}
			for _, text := range node.Content[i].Content {
				s.depends(f, text.Value)
			}
		}
	}
	return nil
}

// condaSetUp makes one environment in a folder of the project, regardless of its name in the file, and
// activates it.
func (s *survey) condaSetUp() (p plan) {
	files := s.modules("environment.yml", "condaenv.yaml")
	if len(files) == 0 {
		return p
	}
	m := files[0]
	for _, other := range files[1:] {
		name := other.condaFile()
		p.left = append(p.left, plan{commands: []string{"conda env update -q -p .conda -f " + word(name)}, source: []string{name}})
	}
	name := m.condaFile()
	p.commands = []string{"rm -rf .conda && conda env create -q -p .conda -f " + word(name), `echo '*' >.conda/.gitignore`,
		`eval "$(conda shell.posix hook)"`, "conda activate ./.conda"}
	p.source = []string{name}
	p.checks = []string{`test -n "$CONDA_PREFIX" && conda list >/dev/null`}
	if m.installable {
		what := m.dir
		if what != "." {
			what = "./" + what
		}
		p.commands = append(p.commands, "pip install --no-deps -e "+word(what))
	}
	return p
}

func (m *module) condaFile() string {
	return cmp.Or(m.manifests["environment.yml"], m.manifests["condaenv.yaml"])
}
