package cli

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/config"
	"signalbox/internal/problem"
	"signalbox/internal/wire"
)

//go:embed starter.yaml
var starter string

//go:embed example-request.md
var exampleRequest string

func newInit(a *command.Invocation) *cobra.Command {
	var show bool
	c := &cobra.Command{
		Use:   "init",
		Short: "Prepare a repository: commented configuration, example request",
		Long: "Write .signalbox/config.yaml and requests/example.md.txt, and hide Signalbox's own files from git through the\n" +
			"repository's exclude file. What is there already is left as it is.",
		Example: "  signalbox init\n  signalbox init --print",
		RunE: func(c *cobra.Command, _ []string) error {
			if show && a.JSON {
				return &problem.Error{Err: errors.New("--print prints YAML, not JSON"), Hint: command.UsageHint(c), Code: problem.Usage}
			}
			if show {
				a.Print("%s", starter)
				return nil
			}
			return initialize(c.Context(), a)
		},
	}
	c.Flags().BoolVar(&show, "print", false, "print the commented configuration and write nothing")
	return c
}

func initialize(ctx context.Context, a *command.Invocation) error {
	p, err := a.Open(ctx)
	if err != nil {
		return err
	}
	text := starter
	if tests := guessTests(ctx, p); tests != "" {
		text = strings.Replace(text, "tests: []", fmt.Sprintf("tests: [%q]", tests), 1)
	}
	named := best(a.Opener.Installed(ctx))
	if named != nil {
		text = strings.Replace(text, starterAgent, fmt.Sprintf("  %s:\n    driver: %s\n", named.Driver, named.Driver), 1)
	}
	files := []prepared{{Name: config.Name, content: text}, {Name: "requests/example.md.txt", content: exampleRequest}}
	for i := range files {
		if files[i].Written, err = writeNew(p, files[i].Name, files[i].content); err != nil {
			return err
		}
	}
	if err := p.Configure(ctx); err != nil { // what is the user's own now is remembered as that before they commit it
		return err
	}
	if p.JSON {
		return p.PrintJSON(files)
	}
	for _, file := range files {
		word := "is there already"
		if file.Written {
			word = "written"
		}
		p.Print("%-26s %s\n", file.Name, word)
	}
	first := "name your agent in " + config.Name
	switch {
	case named != nil && files[0].Written:
		first = fmt.Sprintf("look at %s: %s is on this machine and named as the agent", config.Name, named.Name)
	case len(p.Config.Agents) > 0 || p.ConfigError != nil:
		first = "look at " + config.Name
	}
	p.Print("\nNext:\n  1. %s\n  2. signalbox new \"what should be different\"\n"+
		"  3. signalbox doctor\n  4. signalbox run 1\n", first)
	return nil
}

// prepared is one file of init, and one object of its JSON.
type prepared struct {
	Name string `json:"file"`
	// Written is false where it was there already.
	Written bool `json:"written"`
	content string
}

// starterAgent is what stands in the starter where an agent is named.
const starterAgent = "  # claude:\n  #   driver: claude\n  #   model: claude-sonnet-4-5\n"

// best is the agent to begin with: one that can reach its model, or else one that is here; nil if none is.
func best(found []wire.Installed) *wire.Installed {
	var first *wire.Installed
	for i := range found {
		if found[i].Found && found[i].Login != "" {
			return &found[i]
		}
		if found[i].Found && first == nil {
			first = &found[i]
		}
	}
	return first
}

// writeNew writes a file of the project unless it is there.
func writeNew(p *command.Project, name, content string) (made bool, err error) {
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return false, fmt.Errorf("open project: %w", err)
	}
	defer func() { _ = root.Close() }()
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return false, fmt.Errorf("write %s: %w", name, err)
	}
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, os.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("write %s: %w", name, err)
	}
	_, err = file.WriteString(content)
	return true, errors.Join(err, file.Close())
}

// guessTests is the usual test command of the project's build files, or else the Makefile's; empty if
// there is none.
func guessTests(ctx context.Context, p *command.Project) string {
	for _, usual := range []struct{ file, command string }{
		{"go.mod", "go test ./..."}, {"Cargo.toml", "cargo test"}, {"package.json", "npm test"}, {"pom.xml", "mvn -q test"},
		{"build.gradle", "gradle test"}, {"pyproject.toml", pytest}, {"requirements.txt", pytest}, {"setup.py", pytest},
	} {
		text, err := os.ReadFile(filepath.Join(p.Root, usual.file))
		if err != nil {
			continue
		}
		if usual.command == pytest && !strings.Contains(string(text), "pytest") {
			return unittests(p) // what the set-up installs has no other
		}
		return usual.command
	}
	return makefileTests(ctx, p)
}

// pytest by the name that Python has on every machine, and in the environments that a set-up makes.
const pytest = "python3 -m pytest"

// unittests is the command that finds the project's tests with nothing installed; empty if there are none: a command that runs no test
// passes whatever is wrong.
func unittests(p *command.Project) string {
	has := func(pattern string) bool {
		found, err := filepath.Glob(filepath.Join(p.Root, pattern))
		return err == nil && len(found) > 0
	}
	for _, dir := range []string{"tests", "test"} {
		switch {
		case !has(dir + "/test*.py"):
		case has(dir + "/__init__.py"):
			return "python3 -m unittest"
		default:
			return "python3 -m unittest discover -s " + dir
		}
	}
	if has("test*.py") {
		return "python3 -m unittest"
	}
	return ""
}

// makefileTests is what the project's Makefile calls its tests.
func makefileTests(ctx context.Context, p *command.Project) string {
	found, err := p.DetectHere(ctx, "")
	if err != nil {
		return "" // "signalbox env detect" says why
	}
	for _, d := range found.Descriptions {
		if d.Kind == "Makefile" && slices.Contains(d.Checks, "make test") {
			return "make test"
		}
	}
	return ""
}
