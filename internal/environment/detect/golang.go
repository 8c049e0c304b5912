package detect

import (
	"errors"
	"path"

	"golang.org/x/mod/modfile"
)

func (s *survey) goMod(f *File, text []byte) error {
	// Directives of a newer Go are skipped, as the go command does for dependencies.
	mod, err := modfile.ParseLax(f.Path, text, nil)
	if err != nil {
		return err
	}
	if mod.Module == nil {
		return errors.New("names no module")
	}
	m := s.module(f.Path)
	m.vendored = s.has(path.Join(m.dir, "vendor/modules.txt"))
	for _, r := range mod.Require {
		if r.Indirect {
			m.indirect++
			continue
		}
		s.depend(f, "go", r.Mod.Path, r.Mod.Version)
	}
	if mod.Go != nil {
		s.want(f, map[string]string{Go: mod.Go.Version})
	}
	return nil
}

// goSetUp fetches all modules that go.mod names. Vendored ones are there. Nothing is compiled: the project's tests, which
// run once on the base, compile what they need, and that is kept with the environment.
func (s *survey) goSetUp() (p plan) {
	if s.locked("go.work") {
		return plan{commands: []string{"go mod download"}, checks: []string{goComplete}, source: []string{"go.work"}}
	}
	for _, m := range s.modules("go.mod") {
		if m.vendored || m.dependencies[Go]+m.indirect == 0 {
			continue
		}
		p.commands = append(p.commands, inside(m.dir, "go mod download"))
		p.checks = append(p.checks, inside(m.dir, goComplete))
		p.source = append(p.source, m.manifests["go.mod"])
	}
	return p
}

// goComplete holds when nothing is left to be fetched.
const goComplete = `GOPROXY=off go mod download`
