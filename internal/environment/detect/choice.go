package detect

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// rootWeight is how many times a dependency in the root counts. A project is what its root says; folders
// below may be its documentation or its tools.
const rootWeight = 10

// evidence is what the files say in favor of one kind of environment.
type evidence struct {
	name string
	// weight counts its dependencies; each manifest counts as one more.
	weight int
	// files are manifests and lock files.
	files int
	first string // manifest
}

type choice struct {
	catalogue []Environment
	found     map[string]*evidence
	silent    bool // nothing decided
}

// newChoice weighs the evidence for each kind, and drops kinds that cannot be chosen.
func newChoice(s *survey, catalogue []Environment) *choice {
	c := &choice{catalogue: catalogue, found: map[string]*evidence{}}
	for _, f := range s.result.Files {
		if f.Environment == "" || f.Environment == Miniforge && s.module(f.Path).manifests[f.Kind] != f.Path {
			continue
		}
		e := c.found[f.Environment]
		if e == nil {
			e = &evidence{name: f.Environment}
			c.found[f.Environment] = e
		}
		e.files++
		if f.Manifest {
			if e.first == "" || path.Dir(f.Path) == path.Dir(e.first) && len(f.Path) < len(e.first) {
				e.first = f.Path
			}
			e.weight += s.module(f.Path).weight()
		}
	}
	for dir, m := range s.projects {
		for name, n := range m.dependencies {
			if e := c.found[name]; e != nil {
				e.weight += n * s.projects[dir].weight()
			}
		}
	}
	maps.DeleteFunc(c.found, func(_ string, e *evidence) bool { return e.first == "" })
	conda, python := c.found[Miniforge], c.found[Python]
	if conda != nil && python != nil { // a conda file takes the Python project with it
		conda.weight, conda.files = conda.weight+python.weight, conda.files+python.files
		delete(c.found, Python)
	}
	for _, name := range slices.Sorted(maps.Keys(c.found)) {
		if _, known := c.environment(name); !known {
			s.note("%s needs %s, which is not in the catalogue", c.found[name].first, name)
			delete(c.found, name)
		}
	}
	return c
}

func (m *module) weight() int {
	if m.dir == "." {
		return rootWeight
	}
	return 1
}

func (c *choice) environment(name string) (Environment, bool) {
	i := slices.IndexFunc(c.catalogue, func(e Environment) bool { return e.Name == name })
	if i < 0 {
		return Environment{}, false
	}
	return c.catalogue[i], true
}

// decide applies the rules in order: the only kind found; of several, the request's language, then the most
// dependencies, then the most build files. It returns the reason in one line for people.
func (c *choice) decide(language string) (Environment, string) {
	all := slices.SortedFunc(maps.Values(c.found), func(a, b *evidence) int {
		return cmp.Or(b.weight-a.weight, b.files-a.files, strings.Compare(a.name, b.name))
	})
	var names []string
	for _, e := range all {
		names = append(names, e.name)
	}
	mixed := "mixed (" + strings.Join(names, ", ") + ")"
	spoken := c.spoken(language)
	why := "no file names an environment"
	switch {
	case len(all) == 0 && spoken.Name != "":
		return spoken, why + "; the request asks for " + short(language)
	case len(all) == 1:
		e, _ := c.environment(all[0].name)
		return e, all[0].first + " is there, and nothing of another kind"
	case c.found[spoken.Name] != nil:
		return spoken, fmt.Sprintf("%s: the request asks for %s", mixed, short(language))
	case len(all) > 1:
		first, second := all[0], all[1]
		e, _ := c.environment(first.name)
		if first.weight > second.weight {
			return e, fmt.Sprintf("%s: %s weighs most by dependencies, %d to %d; one in the root counts %d times, a manifest as one more",
				mixed, first.name, first.weight, second.weight, rootWeight)
		}
		if first.files > second.files {
			return e, fmt.Sprintf("%s: as many dependencies, but %s has most build files, %d to %d", mixed, first.name, first.files, second.files)
		}
		why = mixed + ", and none outweighs the others"
	}
	e, known := c.environment(Python)
	if !known {
		e = c.catalogue[0]
	}
	c.silent = true
	return e, "undecided: " + why + "; " + e.Name + " is the default"
}

var languages = map[string]string{
	"python": Python, "python3": Python, "py": Python, "conda": Miniforge, "jupyter": Python,
	"javascript": Node, "js": Node, "typescript": Node, "ts": Node, "node": Node, "nodejs": Node, "node.js": Node, "jsx": Node, "tsx": Node,
	"java": Java, "kotlin": Java, "groovy": Java, "scala": Java, "go": Go, "golang": Go,
}

// spoken returns the environment for a language; one without a name if there is none.
func (c *choice) spoken(language string) Environment {
	language = strings.ToLower(strings.TrimSpace(language))
	name := cmp.Or(languages[language], language)
	if name == Python && c.found[Miniforge] != nil {
		name = Miniforge
	}
	e, _ := c.environment(name)
	return e
}
