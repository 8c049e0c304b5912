package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app/starter"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/run"
	"signalbox/internal/config"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/redact"
)

func newInit(a *command.Invocation) *cobra.Command {
	var show bool
	var forge string
	c := &cobra.Command{
		Use: "init",
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case show && a.JSON:
				return command.UsageError(command.UsageHint(c), "--print prints YAML, not JSON")
			case show:
				a.Print("%s", starter.Configuration)
				return nil
			}
			p, err := a.Open(c.Context())
			if err != nil {
				return err
			}
			driver, offer, err := chosenForge(c, p, forge)
			if err != nil {
				return err
			}
			done, err := starter.Prepare(c.Context(), p.App, a.Opener.Installed(c.Context()), driver)
			if err != nil {
				return err
			}
			if config := &done.Files[0]; offer.Driver != "" {
				offer.Written = config.Written && driver != ""
				config.Forge = &offer
			}
			return a.Show(done.Files, func() {
				for _, file := range done.Files {
					word := "is there already"
					if file.Written {
						word = "written"
					}
					p.Print("%-26s %s\n", file.Name, word)
				}
				first := "name your agent in " + config.Name
				switch {
				case done.Agent != nil:
					first = fmt.Sprintf("look at %s: %s is on this machine and named as the agent", config.Name, done.Agent.Name)
				case done.Configured:
					first = "look at " + config.Name
				}
				steps := []string{first, "signalbox new \"what should be different\"", "signalbox doctor", "signalbox run 1"}
				if p.ConfigError == nil && len(p.Config.Tests)+len(p.Config.TestsE2E) == 0 {
					steps = slices.Insert(steps, 1, "set tests in "+config.Name+" to the command that shows whether a change works: none was found")
				}
				switch {
				case done.Files[0].Written && driver != "":
					steps = []string{first, "export the forge's token (docs/forges.md)", "signalbox doctor", "signalbox run NUMBER, of an issue there"}
				case p.ConfigError == nil && !p.Config.Forge.Hosted() && offer.Page != "":
					steps = append(steps, "to work on issues of "+offer.Page+", set forge in "+config.Name)
				}
				p.Print("\nNext:\n")
				for i, step := range steps {
					p.Print("  %d. %s\n", i+1, step)
				}
			})
		},
	}
	c.Flags().StringVar(&forge, "forge", "", "where issues and pull requests are: github, gitlab, gitea, or local for files here (default: asks at a terminal, if origin leads to one)")
	c.Flags().BoolVar(&show, "print", false, "print the commented configuration and write nothing")
	return c
}

// chosenForge is the driver to write into the configuration, empty for none, and the forge that origin leads to. It asks a person, and
// without one only the flag counts: a forge is acted on in the user's name.
func chosenForge(c *cobra.Command, p *command.Project, wanted string) (driver string, offer starter.Forge, err error) {
	found, page := p.FoundForge(c.Context())
	offer = starter.Forge{Driver: found, Page: redact.Line(page, 200)}
	switch wanted {
	case config.ForgeGitHub, config.ForgeGitLab, config.ForgeGitea:
		offer.Driver = wanted
		return wanted, offer, nil
	case config.ForgeLocal:
		return "", starter.Forge{}, nil
	case "":
	default:
		return "", offer, command.UsageError(command.UsageHint(c), "--forge is github, gitlab, gitea or local")
	}
	if found == "" || !starter.Unconfigured(p.App) || !p.AsksTrust() {
		return "", offer, nil
	}
	agreed, err := p.Confirm(c.Context(), fmt.Sprintf("Work on the issues and pull requests of %s (%s), in your name?", offer.Page, found))
	if agreed {
		driver = found
	}
	return driver, offer, err
}

func newDemo(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{
		Use: "demo [FOLDER]", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			dir := strings.Join(args, "")
			if dir == "" {
				if dir, err = os.MkdirTemp("", "signalbox-demo-"); err != nil {
					return fmt.Errorf("make folder for the demonstration: %w", err)
				}
			}
			if dir, err = filepath.Abs(dir); err != nil {
				return err
			}
			return demo(c.Context(), a, dir)
		},
	}
	c.Flags().BoolVar(&a.Opener.Overrides.Unsandboxed, "unsandboxed", false, "run the demonstration's commands on this machine as you, without isolation")
	return c
}

func demo(ctx context.Context, a *command.Invocation, dir string) error {
	if err := starter.WriteDemo(dir, goCache(ctx)); err != nil {
		return err
	}
	// It has an identity of its own: a new machine has none, and a demonstration needs no signature.
	for _, args := range [][]string{{"init", "--quiet", "--initial-branch=main"},
		{"config", "user.name", "Demo"}, {"config", "user.email", "demo@localhost"}, {"config", "commit.gpgsign", "false"},
		{"add", "."}, {"commit", "--quiet", "-m", "Count words"}} {
		if err := showCommand(ctx, a, dir, append([]string{"git"}, args...)...); err != nil {
			return err
		}
	}
	a.Opener.Dir = dir
	a.Print("A small Go repository with a failing test:\n\n")
	if err := showCommand(ctx, a, dir, "go", "test", "./..."); err != nil {
		return err
	}
	a.Print("\nIts request, number 1, is carried to a merged change:\n\n")
	a.Opener.Overrides.Trust = true // its files are ours
	if err := run.Requests(ctx, a, []string{"1"}); err != nil {
		return err
	}
	a.Print("\nWhat is on main now:\n\n")
	if err := errors.Join(showCommand(ctx, a, dir, "git", "--no-pager", "log", "--graph", "--oneline"), showCommand(ctx, a, dir, "go", "test", "./...")); err != nil {
		return err
	}
	name := "signalbox"
	if self, err := os.Executable(); err == nil {
		if _, missing := exec.LookPath(name); missing != nil {
			name = self // it isn't in PATH yet
		}
	}
	a.Print("\nLook around: cd %s && %s status 1\n", dir, name)
	return nil
}

// goCache returns the folder of Go's cache, or "" if it's of no use; if Go is missing, the demonstration's own commands say so.
func goCache(ctx context.Context) string {
	var out bytes.Buffer
	_, _ = process.Run(ctx, process.Command{Args: []string{"go", "env", "GOCACHE"}, Env: os.Environ(), Stdout: &out, Total: demoLimit})
	dir := strings.TrimSpace(out.String())
	if !filepath.IsAbs(dir) || os.MkdirAll(dir, 0o777) != nil {
		return ""
	}
	return dir
}

// demoLimit is how long one command of the demonstration may take.
const demoLimit = 2 * time.Minute

// showCommand runs a program and shows its output; a failing test is no error.
func showCommand(ctx context.Context, a *command.Invocation, dir string, args ...string) error {
	if args[0] != "git" || args[1] == "--no-pager" {
		a.Print("%s\n", a.Paint(command.Faint, "$ "+strings.Join(args, " ")))
	}
	result, err := process.Run(ctx, process.Command{Args: args, Dir: dir, Env: os.Environ(), Stdout: a.Bare.Out, Stderr: a.Bare.Out, Total: demoLimit})
	if err != nil {
		return &problem.Error{Err: fmt.Errorf("run %s: %w", args[0], err), Hint: fmt.Sprintf("the demonstration needs %s: apt-get install git golang", args[0])}
	}
	if !result.OK() && args[0] == "git" {
		return fmt.Errorf("%s ended with exit code %d", strings.Join(args[:2], " "), result.ExitCode)
	}
	return nil
}
