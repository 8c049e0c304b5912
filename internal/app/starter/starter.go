// Package starter prepares a repository for Signalbox: the commented configuration, an example request, and the small
// repository of the demonstration. It overwrites nothing.
package starter

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/app"
	"signalbox/internal/config"
	"signalbox/internal/wire"
)

// Configuration is the commented configuration, before it is adapted to a project.
//
//go:embed starter.yaml
var Configuration string

//go:embed example-request.md
var exampleRequest string

// agentLines are the lines of the configuration that the found agent replaces.
const agentLines = "  # claude:\n  #   driver: claude\n  #   model: claude-sonnet-4-5\n"

// forgeLine is the line of the configuration that the forge replaces.
const forgeLine = "# forge: {driver: github}\n"

// Prepared is the outcome of Prepare.
type Prepared struct {
	Files []File
	// Agent is the one that Prepare named in the configuration; nil if it found none, or the configuration existed already.
	Agent *wire.Installed
	// Configured: the project's configuration names an agent or has mistakes, so it is worth a look.
	Configured bool
}

// File is one file that Prepare wants in a project.
type File struct {
	Name string `json:"file"`
	// Written is false if the file existed already.
	Written bool `json:"written"`
	// Forge is the one that the configuration may name; nil for other files, and if origin leads to none that is known.
	Forge   *Forge `json:"forge,omitempty"`
	content string
}

// Forge is where issues and pull requests may be.
type Forge struct {
	Driver string `json:"driver"`
	Page   string `json:"page,omitempty"`
	// Written: the configuration that was just written names it.
	Written bool `json:"written"`
}

// Unconfigured reports whether Prepare would write the configuration.
func Unconfigured(p *app.App) bool {
	_, err := os.Lstat(filepath.Join(p.Root, config.Name))
	return errors.Is(err, os.ErrNotExist)
}

// Prepare writes the configuration, with the tests and the agent that it finds and the driver of the forge, if that isn't empty, and the example
// request, unless they exist. It agrees to what it wrote in the user's name.
func Prepare(ctx context.Context, p *app.App, agents []wire.Installed, forge string) (done Prepared, err error) {
	text := Configuration
	if forge != "" {
		text = strings.Replace(text, forgeLine, "forge: {driver: "+forge+"}\n", 1)
	}
	if tests := guessTests(ctx, p); tests != "" {
		text = strings.Replace(text, "tests: []", fmt.Sprintf("tests: [%q]", tests), 1)
	}
	var named *wire.Installed // one that can reach its model, or else any that is installed
	for i := range agents {
		a := &agents[i]
		if a.Found && (named == nil || named.Login == "" && a.Login != "") {
			named = a
		}
	}
	if named != nil {
		text = strings.Replace(text, agentLines, fmt.Sprintf("  %s:\n    driver: %s\n", named.Driver, named.Driver), 1)
	}
	done.Files = []File{{Name: config.Name, content: text}, {Name: "requests/example.md.txt", content: exampleRequest}}
	for i := range done.Files {
		if done.Files[i].Written, err = writeNew(p.Root, done.Files[i].Name, done.Files[i].content); err != nil {
			return done, err
		}
	}
	if done.Files[0].Written {
		done.Agent = named
	}
	err = p.Configure(ctx)
	brought := func(r config.Reach) bool { return r.Key == wire.IncludeName }
	if done.Files[0].Written && p.Trust.Standing == wire.TrustWithheld && !slices.ContainsFunc(p.Trust.List, brought) {
		err = errors.Join(err, p.Grant("written"))
	}
	done.Configured = len(p.Config.Agents) > 0 || p.ConfigError != nil
	return done, err
}

// writeNew writes a file of the project unless it exists.
func writeNew(project, name, content string) (made bool, err error) {
	root, err := os.OpenRoot(project)
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
