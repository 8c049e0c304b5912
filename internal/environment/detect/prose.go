package detect

import (
	"slices"
	"strings"

	"signalbox/internal/lazy"
)

// setUpTargets and checkTargets are the names of targets and tasks for the setup, the clearest first, and
// for checks.
var (
	setUpTargets = []string{"setup", "set-up", "bootstrap", "deps", "dependencies", "install-deps", "install"}
	checkTargets = []string{"build", "test"}
)

var makeTarget = lazy.Pattern(`^([A-Za-z0-9_.-]+(?:[ \t]+[A-Za-z0-9_.-]+)*)[ \t]*::?(?:[ \t]+([^=#;]*)|$)`)

// makeRule is what a Makefile's target needs and does.
type makeRule struct {
	needs  []string
	recipe []string
}

func (s *survey) makefile(f *File, text []byte) error {
	rules := makeRules(text)
	var d Description
	i := slices.IndexFunc(setUpTargets, func(name string) bool { return rules[name] != nil })
	if i >= 0 {
		d.Commands = []string{"make " + setUpTargets[i]}
		d.recipe = recipes(rules, setUpTargets[i])
	}
	for _, name := range checkTargets {
		if rules[name] != nil {
			d.Checks = append(d.Checks, "make "+name)
		}
	}
	s.describe(f, d)
	return nil
}

// maxTargets limits the targets of one recipe, because each gets a copy of it.
const maxTargets = 20

func makeRules(text []byte) map[string]*makeRule {
	rules := map[string]*makeRule{}
	var current []string
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		line = strings.TrimRight(line, "\r\n")
		if command, isRecipe := strings.CutPrefix(line, "\t"); isRecipe {
			for _, name := range current {
				rules[name].recipe = append(rules[name].recipe, strings.TrimLeft(command, "@- "))
			}
			continue
		}
		match := makeTarget().FindStringSubmatch(line)
		if match == nil {
			if strings.TrimSpace(line) != "" {
				current = nil
			}
			continue
		}
		current = strings.Fields(match[1])
		current = current[:min(len(current), maxTargets)]
		for _, name := range current {
			if rules[name] == nil {
				rules[name] = &makeRule{}
			}
			rules[name].needs = append(rules[name].needs, strings.Fields(match[2])...)
		}
	}
	return rules
}

// recipes returns all commands that "make target" may run.
func recipes(rules map[string]*makeRule, target string) string {
	var all []string
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		rule := rules[name]
		if rule == nil || seen[name] {
			return
		}
		seen[name] = true
		for _, need := range rule.needs {
			visit(need)
		}
		all = append(all, rule.recipe...)
	}
	visit(target)
	return strings.Join(all, "\n")
}

var (
	heading      = lazy.Pattern(`^#{1,6}\s+(.*)`)
	fence        = lazy.Pattern("^\\s*(```+|~~~+)\\s*(\\w*)")
	setUpHeading = lazy.Pattern(`(?i)\bset.?up\b|\binstall|\bbootstrap|\bprerequisite|\bgetting started\b|\bdependenc|\bdev(elopment)? environment\b`)
	checkHeading = lazy.Pattern(`(?i)\btest|\bbuild|\blint|\bcheck`)
	shells       = []string{"", "sh", "bash", "shell", "zsh", "console", "terminal"}
)

// agents reads the shell blocks below headings about setup or tests.
func (s *survey) agents(f *File, text []byte) error {
	var d Description
	var open, under string
	shell := false
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		line = strings.TrimRight(line, "\r\n")
		mark := fence().FindStringSubmatch(line)
		command := strings.TrimPrefix(strings.TrimSpace(line), "$ ") // without a prompt
		if strings.HasPrefix(command, "#") {
			command = ""
		}
		switch {
		case open == "" && mark != nil:
			open, shell = mark[1], slices.Contains(shells, strings.ToLower(mark[2]))
		case open != "" && strings.HasPrefix(strings.TrimSpace(line), open):
			open = ""
		case open != "" && shell && setUpHeading().MatchString(under):
			d.Commands = append(d.Commands, command)
		case open != "" && shell && checkHeading().MatchString(under):
			d.Checks = append(d.Checks, command)
		case open == "" && heading().MatchString(line):
			under = heading().FindStringSubmatch(line)[1]
		}
	}
	s.describe(f, d)
	return nil
}
