package wire

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/config"
	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/egress"
	"signalbox/internal/git"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// passedOn are the variables that commands get without being asked for: where
// programs are, which language they speak, and where packages come from.
var passedOn = []string{"PATH", "LANG", "LC_ALL", "TZ", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOFLAGS", "GOTOOLCHAIN",
	"NPM_CONFIG_REGISTRY", "npm_config_registry", "PIP_INDEX_URL"}

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

// Driver makes the environments that the configuration asks for.
func (p *Project) Driver() environment.Driver {
	e := p.Config.Environment
	ways := map[string]clone.Way{config.WarmOn: clone.Auto, config.WarmShared: clone.Shared, config.WarmOff: clone.Off}
	roots, err := p.Certificates()
	if err != nil && p.ConfigError == nil {
		p.ConfigError = err
	}
	// What a variable names, of those that commands and agents get, is reached: nobody passes on GOPROXY for nothing.
	named := p.Variables()
	for _, a := range p.Config.Agents {
		named = append(named, a.Env...)
	}
	reached, err := egress.NewPolicy(e.Allow, named)
	if err != nil && p.ConfigError == nil {
		p.ConfigError = &problem.Error{Err: err, Hint: "fix environment.allow in " + config.Name}
	}
	c := clone.Config{Proxy: p.Proxy(), Roots: roots, Repo: p.Repo, Sign: git.Signing(p.Config.Commit.Sign), Warm: ways[e.Warm], Exec: p.Host(), Root: p.Root,
		State: p.environmentsFolder(), Variables: p.Variables(),
		Unsandboxed: e.Sandbox == config.SandboxNone, UserNamespaces: e.UserNamespaces, ReadOnly: p.readable(), Cache: int64(e.Cache),
		Network: e.Network, Egress: reached, WithoutSubmodules: !e.Submodules, Limits: p.Limits(), Logger: p.Log}
	if e.Driver == config.DriverContainer {
		return p.containerDriver(c)
	}
	return clone.New(c)
}

func (p *Project) environmentsFolder() string {
	return filepath.Join(p.Root, ".signalbox", "environments")
}

func (p *Project) Limits() process.Limits {
	e := p.Config.Environment
	return process.Limits{Memory: int64(e.Memory), CPUs: e.CPUs, Processes: e.Processes}
}

// readable are the host paths that the configuration opens, and absolute paths
// that an agent's arguments name.
func (p *Project) readable() []string {
	paths := slices.Concat(p.Config.Environment.Read, p.certificatePaths())
	for _, a := range p.Config.Agents {
		for _, argument := range a.Command[min(1, len(a.Command)):] {
			if filepath.IsAbs(argument) {
				paths = append(paths, argument)
			}
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Stat(path)
		return err != nil
	})
}

// MayBegin says why no new run can be started here, nil if one can.
func (p *Project) MayBegin() error {
	if name, _, ok := p.Config.AgentFor(string(workflow.Implementer), p.WorkflowName()); !ok {
		if several := slices.Sorted(maps.Keys(p.Config.Agents)); name == "" && len(several) > 1 {
			return &problem.Error{Err: fmt.Errorf("no role says which agent implements: there are %s", redact.Line(strings.Join(several, ", "), 200)),
				Hint: fmt.Sprintf("say it in %s: roles: {implementer: %s}", config.Name, several[0])}
		}
		return &problem.Error{Err: errors.New("no agent is configured that could implement anything"),
			Hint: fmt.Sprintf("name one in %s (\"signalbox init\" writes a commented one), or give a program: --agent ./agent.sh", config.Name)}
	}
	return p.InMainTree()
}

// InMainTree says why nothing can begin in a linked work tree, nil if this is none.
func (p *Project) InMainTree() error {
	// State lies in one folder and refs in one repository: two work trees of it would each
	// take the other's branches for their own.
	if link, err := os.ReadFile(filepath.Join(p.Root, ".git")); err == nil && strings.Contains(string(link), "/worktrees/") {
		main := filepath.Dir(p.Repo.GitDir())
		return &problem.Error{Err: errors.New("this is a linked work tree, and Signalbox keeps its place in the main one"),
			Hint: fmt.Sprintf("cd %s; a request's base says which branch it is merged into", main)}
	}
	return nil
}

func (p *Project) Abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.Root, path)
}

// hidden are the project's folders and files of ours that git must not offer to commit.
var hidden = []string{"/runs/", "/.worktrees/", "/environments.json", "/state.json", "/state.json.bak", "/state.json.broken-*", "/state.json.former-*"}

// hide adds them to the repository's own exclude file, which changes nothing that is tracked.
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
