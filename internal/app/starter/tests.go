package starter

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/app"
)

// guessTests is the usual test command for the project's build files, or else the Makefile's; empty if there is none.
func guessTests(ctx context.Context, p *app.App) string {
	for _, usual := range []struct{ file, command string }{
		{"go.mod", "go test ./..."}, {"Cargo.toml", "cargo test"}, {"package.json", "npm test"}, {"pom.xml", "mvn -q test"},
		{"build.gradle", "gradle test"}, {"pyproject.toml", pytest}, {"requirements.txt", pytest}, {"setup.py", pytest},
	} {
		text, err := os.ReadFile(filepath.Join(p.Root, usual.file))
		if err != nil {
			continue
		}
		if usual.command == pytest && !strings.Contains(string(text), "pytest") {
			return unittests(p) // the setup doesn't install pytest
		}
		return usual.command
	}
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

// pytest runs with the name that Python has on every machine and in every environment.
const pytest = "python3 -m pytest"

// unittests is the command that runs the project's tests with nothing installed. It is empty if there are none, since a command that
// runs no test always passes.
func unittests(p *app.App) string {
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
