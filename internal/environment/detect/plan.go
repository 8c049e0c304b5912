package detect

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"signalbox/internal/lazy"
)

// maxModules is how many folders of one kind are set up separately.
const maxModules = 10

// plan is an unfinished setup.
type plan struct {
	commands []string
	// checks are commands that succeed once everything is installed; proofs also print OK.
	checks, proofs []string
	source         []string
	left           []plan // folders of the same kind that the setup leaves out
}

func (p *plan) verification() []Verification {
	all := verified(p.proofs...)
	for _, check := range p.checks {
		all = append(all, verified(check+" && echo OK")...)
	}
	return all
}

// planSetUp uses the first description of the project that does what the environment needs, and otherwise
// its manifests.
func (s *survey) planSetUp(e Environment) {
	s.result.SetUp, s.result.Verification = []string{}, []Verification{}
	p := s.manifestPlan(e)
	slices.SortStableFunc(s.result.Descriptions, func(a, b Description) int { return rank(a.Kind) - rank(b.Kind) })
	for i := range s.result.Descriptions {
		d := &s.result.Descriptions[i]
		d.Unfit = s.unfit(d, e.Name)
		if len(d.Commands) == 0 || d.Unfit != "" || s.result.SetUpSource != "" {
			continue
		}
		// How far its commands go is unknown, so the verification is that the tools are there, and for Node
		// the packages.
		s.result.SetUp, s.result.SetUpSource, s.result.Verification = slices.Clone(d.Commands), d.Path, e.Verification
		text := strings.Join(d.Commands, "\n") + d.recipe
		switch {
		case s.result.Default:
			s.result.Verification = nil
		case e.Name == Python && (strings.Contains(text, "venv") || strings.Contains(text, "conda")):
			s.result.Verification = verified(`python3 --version >/dev/null && echo OK`)
		case e.Name == Python:
			s.result.SetUp = slices.Concat([]string{makeVenv, enterVenv}, d.Commands)
		case e.Name == Node && len(p.checks) > 0:
			s.result.Verification = p.verification()
		}
		if s.result.Verification == nil {
			s.result.Verification = []Verification{}
		}
	}
	if s.result.SetUpSource == "" && len(p.commands) > 0 {
		s.result.SetUp, s.result.Verification = p.commands, p.verification()
		s.result.SetUpSource = strings.Join(p.source, ", ")
	}
}

// manifestPlan plans the setup of an environment from its manifests.
func (s *survey) manifestPlan(e Environment) (p plan) {
	switch e.Name {
	case Python:
		p = s.pythonSetUp()
	case Miniforge:
		p = s.condaSetUp()
	case Node:
		p = s.nodeSetUp()
	case Java:
		p = s.javaSetUp()
	case Go:
		p = s.goSetUp()
	default:
		p.commands, p.source = e.SetUp, []string{"the catalogue"}
	}
	return p
}

// modules returns the folders that have a manifest of one of the kinds, the root first and the deepest last.
func (s *survey) modules(kinds ...string) (found []*module) {
	for _, m := range s.projects {
		if slices.ContainsFunc(kinds, func(kind string) bool { return m.manifests[kind] != "" }) {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, func(a, b *module) int {
		return cmp.Or(depth(path.Join(a.dir, "x"))-depth(path.Join(b.dir, "x")), strings.Compare(a.dir, b.dir))
	})
	if over := len(found) - maxModules; over > 0 {
		s.note("%d folders with %s are not set up: only the first %d are", over, kinds[0], maxModules)
		found = found[:maxModules]
	}
	return found
}

func below(dir, parent string) bool {
	return parent == "." && dir != "." || strings.HasPrefix(dir, parent+"/")
}

// inside returns a command that runs in a folder of the project. The shell's own folder stays.
func inside(dir, command string) string {
	if dir == "." {
		return command
	}
	return "(cd " + word(dir) + " && " + command + ")"
}

var bareWord = lazy.Pattern(`^[A-Za-z0-9_./@+,:=-]+$`)

// word quotes text for a shell if necessary.
func word(text string) string {
	if bareWord().MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func (s *survey) gitignore(f *File, text []byte) error {
	dir := path.Dir(f.Path)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "**/")
		s.ignored[dir] = append(s.ignored[dir], strings.Trim(line, "/"))
	}
	return nil
}

// ignores reports whether git ignores a folder that a setup makes.
func (s *survey) ignores(dir, folder string) bool {
	return slices.Contains(s.ignored["."], folder) || slices.Contains(s.ignored[dir], folder)
}
