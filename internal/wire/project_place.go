package wire

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/commandline"
	"signalbox/internal/config"
	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/egress"
	"signalbox/internal/git"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/wire/folder"
	"signalbox/internal/workflow"
)

// passedOn are the variables that commands always get: where programs are, the language, and where packages come from.
var passedOn = []string{"PATH", "LANG", "LC_ALL", "TZ", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOFLAGS", "GOTOOLCHAIN",
	"NPM_CONFIG_REGISTRY", "npm_config_registry", "PIP_INDEX_URL"}

// Variables are those that commands get, as NAME=value.
func (p *Project) Variables() (variables []string) {
	for _, name := range slices.Concat(passedOn, p.CertificateVariables(), p.Config.Environment.Variables) {
		if strings.Contains(name, "=") {
			variables = append(variables, name)
		} else if value := p.Env(name); value != "" {
			variables = append(variables, name+"="+value)
		}
	}
	return variables
}

// Driver is the driver of environments that the configuration asks for.
func (p *Project) Driver() environment.Driver {
	e := p.Config.Environment
	ways := map[string]clone.Way{config.WarmOn: clone.Auto, config.WarmShared: clone.Shared, config.WarmOff: clone.Off}
	roots, err := p.Certificates()
	if err != nil && p.ConfigError == nil {
		p.ConfigError = err
	}
	// Commands and agents may reach the hosts that their variables name: no one passes on GOPROXY for nothing.
	named := p.Variables()
	for _, a := range p.Config.Agents {
		named = append(named, a.Env...)
	}
	reached, err := egress.NewPolicy(e.Allow, named)
	if err != nil && p.ConfigError == nil {
		p.ConfigError = &problem.Error{Err: err, Hint: "fix environment.allow in " + config.Name}
	}
	limits := process.Limits{Memory: int64(e.Memory), CPUs: e.CPUs, Processes: e.Processes}
	c := clone.Config{Proxy: p.Proxy(), Roots: roots, Repo: p.Repo, Sign: git.Signing(p.Config.Commit.Sign), Warm: ways[e.Warm], Exec: p.Host(), Root: p.Root,
		State: filepath.Join(p.Root, environmentsFolder), Variables: p.Variables(),
		Unsandboxed: e.Sandbox == config.SandboxNone, UserNamespaces: e.UserNamespaces, ReadOnly: p.readable(false), Cache: int64(e.Cache),
		Network: e.Network, Egress: reached, WithoutSubmodules: !e.Submodules, Limits: limits, Logger: p.Log}
	if e.Driver == config.DriverContainer {
		return p.containerDriver(c)
	}
	return clone.New(c)
}

const environmentsFolder = ".signalbox/environments"

// readable are the host paths that the configuration opens, and absolute paths in an agent's arguments. A container is told at its
// start, so for one they include the programs of the agents, and our own if it asks the services of health checks.
func (p *Project) readable(container bool) []string {
	paths := slices.Concat(p.Config.Environment.Read, p.certificatePaths())
	for _, a := range p.Config.Agents {
		for i, argument := range a.Command {
			switch {
			case i > 0 && filepath.IsAbs(argument):
				paths = append(paths, argument)
			case i == 0 && container && strings.Contains(argument, "/"):
				paths = append(paths, folder.Within(p.Root, argument))
			}
		}
	}
	if container && slices.ContainsFunc(p.Config.Health.Checks, func(c config.Check) bool { return c.Start != "" }) {
		if self, err := ownProgram(); err == nil {
			paths = append(paths, self)
		}
	}
	if container {
		slices.Sort(paths)
		paths = slices.Compact(paths)
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Stat(path)
		return err != nil
	})
}

// MayBegin says why no new run can begin here, nil if one can.
func (p *Project) MayBegin() error {
	if name, _, ok := p.Config.AgentFor(string(workflow.Implementer), p.WorkflowName()); !ok {
		if several := slices.Sorted(maps.Keys(p.Config.Agents)); name == "" && len(several) > 1 {
			return &problem.Error{Err: fmt.Errorf("no role says which agent implements: there are %s", redact.Line(strings.Join(several, ", "), 200)),
				Hint: fmt.Sprintf("say it in %s: roles: {implementer: %s}", config.Name, several[0])}
		}
		return &problem.Error{Err: errors.New("no agent is configured that could implement anything"),
			Hint: fmt.Sprintf("name one under agents in %s (what \"signalbox init\" wrote has some to uncomment), or give a program: --agent ./agent.sh", config.Name)}
	}
	return p.InMainTree()
}

// InMainTree refuses a linked work tree, in which nothing can begin.
func (p *Project) InMainTree() error {
	// Each work tree would keep its own state but share the refs, and take the other's branches for its own.
	link, err := os.ReadFile(filepath.Join(p.Root, ".git"))
	if err != nil { // a folder
		return nil //nolint:nilerr // git has found the repository
	}
	gitDir := strings.TrimSpace(strings.TrimPrefix(string(link), "gitdir:"))
	if !filepath.IsAbs(gitDir) {
		gitDir = filepath.Join(p.Root, gitDir)
	}
	if _, err := os.Stat(filepath.Join(gitDir, "commondir")); err != nil { // a submodule, or a repository with --separate-git-dir
		return nil //nolint:nilerr // only a linked work tree has this file
	}
	hint := "go to the one whose git folder is " + p.Repo.GitDir()
	if main, ok := strings.CutSuffix(p.Repo.GitDir(), "/.git"); ok {
		hint = "cd " + commandline.ShellWord(main)
	}
	return &problem.Error{Err: errors.New("this is a linked work tree, and Signalbox keeps its place in the main one"),
		Hint: hint + "; a request's base says which branch it is merged into"}
}

// hidden are our files and folders in the project that git must not offer to commit.
var hidden = []string{"/runs/", "/.worktrees/", "/environments.json", "/state.json", "/state.json.bak", "/state.json.broken-*", "/state.json.former-*"}

// hide adds them to the repository's own exclude file, which changes no tracked file.
func hide(gitDir string) error {
	path := filepath.Join(gitDir, "info", "exclude")
	present, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read %s: %w", path, err)
	}
	lines := strings.Split(string(present), "\n")
	var missing []string
	for _, pattern := range hidden {
		if !slices.Contains(lines, pattern) {
			missing = append(missing, pattern)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("hide own files from git: %w", err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("hide own files from git: %w", err)
	}
	text := "# Signalbox\n" + strings.Join(missing, "\n") + "\n"
	if len(present) > 0 && !strings.HasSuffix(string(present), "\n") {
		text = "\n" + text
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}
