package detect

import (
	"path"
	"slices"
	"strings"
)

const (
	// Its own .gitignore keeps the folder out of commits; Python writes one from 3.13 on.
	makeVenv   = `python3 -m venv .venv && echo '*' >.venv/.gitignore`
	enterVenv  = `. .venv/bin/activate`
	hideEggs   = `for d in *.egg-info src/*.egg-info; do [ ! -d "$d" ] || echo '*' >"$d/.gitignore"; done`
	pythonDone = `pip check >/dev/null && echo OK`
	// venvEntered succeeds in a shell that is inside a virtual environment.
	venvEntered = `python -c 'import sys; assert sys.prefix != sys.base_prefix; print("OK")'`
)

// testExtras are usual names of the extras that tests need.
var testExtras = []string{"dev", "develop", "development", "test", "tests", "testing"}

// testRequirements are usual names of requirements files that tests need.
var testRequirements = []string{"requirements-dev.txt", "requirements-test.txt", "requirements_dev.txt", "requirements_test.txt",
	"requirements-tests.txt", "dev-requirements.txt", "test-requirements.txt", "requirements/base.txt", "requirements/dev.txt", "requirements/test.txt"}

// pythonSetUp installs into one virtual environment at the root, in which later commands run: the root's
// packages or, if the root has none, those of all folders.
func (s *survey) pythonSetUp() (p plan) {
	all := s.modules("requirements.txt", "pyproject.toml", "setup.py", "Pipfile")
	if i := slices.IndexFunc(all, func(m *module) bool { return m.dir == "." }); i >= 0 {
		if root := s.pythonInstall(all[i]); len(root.commands) > 0 {
			p.left = s.pythonInstalls(slices.Delete(slices.Clone(all), i, i+1))
			all = all[i : i+1]
		}
	}
	for _, q := range s.pythonInstalls(all) {
		for _, command := range q.commands {
			if !slices.Contains(p.commands, command) { // the same tool for two folders
				p.commands = append(p.commands, command)
			}
		}
		p.source = append(p.source, q.source...)
	}
	if len(p.commands) == 0 {
		return plan{}
	}
	p.commands = slices.Concat([]string{makeVenv, enterVenv}, p.commands)
	p.proofs = []string{venvEntered, pythonDone}
	return p
}

func (s *survey) pythonInstalls(all []*module) (each []plan) {
	for _, m := range all {
		each = append(each, s.pythonInstall(m))
	}
	return each
}

// pythonInstall plans the setup of one folder with the tool that its files name.
func (s *survey) pythonInstall(m *module) plan {
	in := func(tool string, commands ...string) (p plan) {
		p.commands = []string{"pip install " + tool}
		for _, command := range commands {
			p.commands = append(p.commands, inside(m.dir, command))
		}
		return p
	}
	from := func(p plan, base string) plan { p.source = []string{path.Join(m.dir, base)}; return p }
	switch {
	case s.locked(path.Join(m.dir, "uv.lock")) && m.project:
		return from(in("uv", "uv sync --active --inexact --frozen"), "uv.lock")
	case m.poetry && s.locked(path.Join(m.dir, "poetry.lock")):
		return from(in("poetry", "poetry install --no-interaction"), "poetry.lock")
	case m.poetry && !m.project:
		return from(in("poetry", "poetry install --no-interaction"), "pyproject.toml")
	case m.manifests["Pipfile"] != "" && s.locked(path.Join(m.dir, "Pipfile.lock")):
		return from(in("pipenv", "pipenv sync --dev"), "Pipfile.lock")
	case m.manifests["Pipfile"] != "":
		return from(in("pipenv", "pipenv install --dev"), "Pipfile")
	}
	return s.pipInstall(m)
}

// pipInstall installs the requirements files, then the project itself, so that its tests can import it.
func (s *survey) pipInstall(m *module) (p plan) {
	for _, base := range slices.Concat([]string{"requirements.txt"}, testRequirements) {
		name := path.Join(m.dir, base)
		understood := slices.ContainsFunc(s.result.Files, func(f File) bool { return f.Path == name && f.Manifest })
		if understood && s.asking[name] {
			p.commands = append(p.commands, "pip install -r "+word(name))
			p.source = append(p.source, name)
		}
	}
	if !m.installable {
		return p
	}
	what := m.dir
	if m.dir != "." {
		what = "./" + m.dir
	}
	if len(m.extras) > 0 {
		what += "[" + strings.Join(m.extras, ",") + "]"
	}
	p.commands = append(p.commands, "pip install -e "+word(what))
	if !s.ignores(m.dir, "*.egg-info") {
		p.commands = append(p.commands, inside(m.dir, hideEggs))
	}
	for _, base := range []string{"pyproject.toml", "setup.py"} {
		if name := m.manifests[base]; name != "" {
			p.source = append(p.source, name)
			break
		}
	}
	return p
}
