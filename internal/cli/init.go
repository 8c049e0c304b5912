package cli

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/config"
)

//go:embed starter.yaml
var starter string

//go:embed example-request.md
var exampleRequest string

func newInit(a *app) *cobra.Command {
	var show bool
	c := &cobra.Command{
		Use:   "init",
		Short: "Prepare a repository: a commented configuration and an example request",
		Long: "Write .signalbox/config.yaml and requests/example.md.txt, and hide Signalbox's own files from git through the\n" +
			"repository's exclude file. What is there already is left as it is.",
		Example: "  signalbox init\n  signalbox init --print",
		RunE: func(c *cobra.Command, _ []string) error {
			if show {
				a.print("%s", starter)
				return nil
			}
			return a.initialize(c.Context())
		},
	}
	c.Flags().BoolVar(&show, "print", false, "print the commented configuration and write nothing")
	return c
}

func (a *app) initialize(ctx context.Context) error {
	p, err := a.open(ctx)
	if err != nil {
		return err
	}
	tests := p.guessTests()
	text := strings.Replace(starter, "tests: []", fmt.Sprintf("tests: [%q]", tests), 1)
	if tests == "" {
		text = starter
	}
	for _, file := range []struct{ name, content string }{
		{config.Name, text}, {"requests/example.md.txt", exampleRequest},
	} {
		made, err := p.writeNew(file.name, file.content)
		if err != nil {
			return err
		}
		word := "is there already"
		if made {
			word = "written"
		}
		p.print("%-26s %s\n", file.name, word)
	}
	p.print("\nNext:\n  1. name your agent in %s\n  2. copy requests/example.md.txt to requests/<name>.md and say what you want\n"+
		"  3. signalbox doctor\n  4. signalbox run 1\n", config.Name)
	return nil
}

// writeNew writes a file of the project unless it is there.
func (p *project) writeNew(name, content string) (made bool, err error) {
	root, err := os.OpenRoot(p.root)
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

// guessTests is the usual test command of the project's build files; empty if there is none.
func (p *project) guessTests() string {
	for _, usual := range []struct{ file, command string }{
		{"go.mod", "go test ./..."}, {"Cargo.toml", "cargo test"}, {"package.json", "npm test"}, {"pom.xml", "mvn -q test"},
		{"build.gradle", "gradle test"}, {"pyproject.toml", "python -m pytest"}, {"requirements.txt", "python -m pytest"},
	} {
		if _, err := os.Stat(filepath.Join(p.root, usual.file)); err == nil {
			return usual.command
		}
	}
	return ""
}
