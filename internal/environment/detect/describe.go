package detect

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"signalbox/internal/lazy"
)

const (
	maxCommands = 50
	maxCommand  = 4 << 10 // bytes
	maxScripts  = 20
)

// preference is the order in which descriptions are offered.
var preference = []string{"devcontainer.json", "mise.toml", ".tool-versions", ".nvmrc", ".node-version", ".python-version",
	"copilot-setup-steps.yml", "AGENTS.md", "Makefile"}

// rank returns a kind's place among the descriptions; all others come last.
func rank(kind string) int {
	if i := slices.Index(preference, kind); i >= 0 {
		return i
	}
	return len(preference)
}

// describe records what a file says about the setup, if it says anything.
func (s *survey) describe(f *File, d Description) {
	d.Path, d.Kind, d.Image, d.Dockerfile = f.Path, f.Kind, short(d.Image), short(d.Dockerfile)
	d.Commands, d.Checks = s.commands(f, d.Commands), s.commands(f, d.Checks)
	if len(d.Commands)+len(d.Checks)+len(d.Versions)+len(d.Image)+len(d.Dockerfile) > 0 {
		s.result.Descriptions = append(s.result.Descriptions, d)
	}
}

// commands drops commands that a person can't read before they run.
func (s *survey) commands(f *File, all []string) (kept []string) {
	hidden := func(c rune) bool {
		return c != '\n' && c != '\t' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c))
	}
	for _, command := range all {
		command = strings.TrimSpace(strings.ReplaceAll(command, "\r\n", "\n"))
		switch {
		case command == "":
		case len(kept) == maxCommands:
			s.note("%s: only the first %d commands are used", f.Path, maxCommands)
			return kept
		case len(command) > maxCommand || !utf8.ValidString(command) || strings.ContainsFunc(command, hidden):
			s.note("%s: left out the command %q: it is too long, or has invisible characters", f.Path, short(command))
		default:
			kept = append(kept, command)
		}
	}
	return kept
}

var (
	// Commands for a developer's own machine, which an environment does not have.
	foreign    = lazy.Pattern(`(?m)(?:^|[\s;&|(@])(sudo|docker|docker-compose|podman|brew|systemctl|snap)(?:\s|$)`)
	moves      = lazy.Pattern(`(?:^|[;&|({]\s*)(?:cd|pushd|exit|exec|set)\b`)
	startable  = lazy.Pattern(`\.(?:sh|bash|py|js|mjs|cjs|ts|rb|pl)$|(?:^|/)(?:scripts?|bin|tools|hack)/`)
	installers = map[string]func() *regexp.Regexp{
		Python:    installer(`pip3?|poetry|pipenv|uv|conda|mamba|hatch|pdm|tox`),
		Miniforge: installer(`pip3?|poetry|pipenv|uv|conda|mamba`),
		Node:      installer(`npm|pnpm|yarn|bun`),
		Java:      installer(`mvn|mvnw|gradle|gradlew`),
		Go:        installer(`go mod|go get|go work`),
	}
)

// apart returns a command that leaves the shell's folder and options as they are. It ends at the first line
// that fails, as in the file that it comes from.
func apart(command, dir string) string {
	command = strings.TrimSpace(command)
	if dir == "" && !strings.Contains(command, "\n") && !moves().MatchString(command) {
		return command
	}
	if dir != "" {
		command = "cd " + word(dir) + "\n" + command
	}
	return "(set -e\n" + command + "\n)"
}

// installer returns a pattern for one of the words, also as $(PIP) or ./mvnw.
func installer(words string) func() *regexp.Regexp {
	return lazy.Pattern(`(?i)(?:^|[^\w-])(?:` + words + `)(?:[^\w-]|$)`)
}

// unfit returns why a description's commands are only offered: a person must choose among them first. If
// nothing decided the environment, only a person knows which commands it needs.
func (s *survey) unfit(d *Description, environment string) string {
	text := strings.Join(d.Commands, "\n") + "\n" + d.recipe
	installs, known := installers[environment]
	switch match := foreign().FindStringSubmatch(text); {
	case len(d.Commands) == 0:
		return ""
	case d.Kind == "AGENTS.md":
		return "it is prose: a person must pick its setup commands"
	case match != nil:
		return "needs " + match[1]
	case known && !s.result.Default && !installs().MatchString(text) && len(s.scripts(text)) == 0:
		return fmt.Sprintf("nothing in it installs what %s needs", environment)
	}
	return ""
}

// scripts returns the project's files that a text names and a shell can start.
func (s *survey) scripts(text string) (found []string) {
	for _, name := range strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(`'"();&|<>=`, c) }) {
		name = strings.TrimPrefix(name, "./")
		if len(found) < maxScripts && startable().MatchString(name) && plain(name) && s.has(name) && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}
