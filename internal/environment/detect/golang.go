package detect

import (
	"errors"
	"path"

	"golang.org/x/mod/modfile"
)

func (s *survey) goMod(f *File, text []byte) error {
	// ParseLax skips directives of a newer Go, as the go command does for dependencies.
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

// goSetUp fetches all modules that go.mod names, except vendored ones. It compiles nothing: the project's
// tests, which run once on the base, compile what they need, and the environment's snapshot keeps it.
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

// goComplete succeeds if every module is there.
const goComplete = `GOPROXY=off go mod download`
