package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"signalbox/internal/config"
	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/egress"
	"signalbox/internal/forge"
	"signalbox/internal/forge/local"
	"signalbox/internal/gateway"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/runner"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// overrides are the flags that win over the configuration.
type overrides struct {
	workflow    []string
	approve     string
	maxParallel int
	unsandboxed bool
	agent       string
	base        string
}

func (o overrides) apply(c *config.Config, root string) error {
	if len(o.workflow) > 0 {
		c.Workflow = o.workflow
	}
	if o.approve != "" {
		if o.approve != config.ApproveAuto && o.approve != config.ApproveManual {
			return &problem{err: fmt.Errorf("--approve is %q", o.approve), hint: "want manual or auto", code: exitUsage}
		}
		c.Approve = o.approve
	}
	if o.maxParallel < 0 {
		return &problem{err: fmt.Errorf("--max-parallel is %d", o.maxParallel), hint: "want 1 or more", code: exitUsage}
	}
	if o.maxParallel > 0 {
		c.MaxParallel = o.maxParallel
	}
	if o.unsandboxed {
		c.Environment.Sandbox = config.SandboxNone
	}
	if o.base != "" {
		c.Base = o.base
	}
	if o.agent != "" {
		onlyAgent(c, o.agent)
	}
	return nil
}

// onlyAgent has an agent of the configuration, or else a program, implement requests, and nobody do
// anything else.
func onlyAgent(c *config.Config, agent string) {
	name := agent
	if _, configured := c.Agents[name]; !configured {
		name = "agent"
		c.Agents = map[string]config.Agent{name: {Driver: config.DriverCommand, Command: []string{agent}}}
	}
	c.Roles = map[string]config.Role{"implementer": {Agent: name}, "planner": {Agent: config.RoleNone}, "reviewer": {Agent: config.RoleNone}, "repairer": {Agent: config.RoleNone}}
	c.Workflows = nil
}

// project is everything that a command works on.
type project struct {
	*app
	root       string
	repo       *git.Repo
	store      *store.Store
	config     config.Config
	configured bool
	// configError is why the file's settings do not hold. Runs can be looked at all the same.
	configError  error
	redact       *redact.Redactor
	environments environment.Driver
	forge        forge.Forge
	// gateway is started by the first agent that reaches its model through it.
	gateway *gateway.Gateway
}

// open finds the project around the working directory.
func (a *app) open(ctx context.Context) (*project, error) {
	p, err := a.openProject(ctx)
	return p, explained(err)
}

func (a *app) openProject(ctx context.Context) (*project, error) {
	repo, err := git.Open(ctx, a.host(), a.Dir)
	if err != nil {
		return nil, err
	}
	p := &project{app: a, root: repo.Root(), repo: repo}
	if p.config, p.configured, err = config.Load(filepath.Join(p.root, config.Name), a.Env); err != nil {
		p.config = config.Default()
		p.configError = &problem{err: err, hint: "mend the file; \"signalbox init --print\" shows a commented one"}
	}
	if err := a.flags.apply(&p.config, p.root); err != nil {
		return nil, err
	}
	p.redact = redact.New(p.secrets())
	p.store, err = store.Open(ctx, store.Config{Root: p.root, Redact: p.redact.String, Logger: a.log})
	if err != nil {
		return nil, err
	}
	if err := hide(repo.GitDir()); err != nil {
		return nil, err
	}
	p.settleLogins()
	p.environments = p.driver()
	p.forge = local.New(local.Config{Repo: repo, Store: p.store, Root: p.root, Test: p.testCandidate, Logger: a.log})
	return p, nil
}

// warn says of a configuration that does not hold what it would have said, where a run is only
// looked at.
func (p *project) warn() {
	if p.configError != nil {
		_, _ = fmt.Fprintf(p.Err, "%s %s\n", p.paint(yellow, "warning:"), redact.Clean(p.configError.Error()))
	}
}

// host runs programs on this machine and logs which, and how long each took.
func (a *app) host() process.Host {
	return process.Host{Observe: func(c process.Command, r process.Result) {
		a.log.Debug("program ended", "program", filepath.Base(c.Args[0]), "exit", r.ExitCode,
			"started", r.Started.Format(time.RFC3339Nano), "took", r.Duration)
	}}
}

// secretWords are parts of names of variables that hold secrets more often than not.
var secretWords = []string{"TOKEN", "SECRET", "PASSWORD", "API_KEY", "PRIVATE_KEY", "CREDENTIAL"}

func (p *project) secrets() map[string]string {
	secrets := map[string]string{}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if value != "" && (slices.Contains(p.config.Secrets, name) || secretName(name)) {
			secrets[name] = value
		}
	}
	return secrets
}

// secretName reports whether a variable, or what is assigned to one, is likely to be a secret by its name.
func secretName(variable string) bool {
	name, _, _ := strings.Cut(strings.ToUpper(variable), "=")
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

// passedOn are the variables that commands get without being asked for: where
// programs are, which language they speak, and where packages come from.
var passedOn = []string{"PATH", "LANG", "LC_ALL", "TZ", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOFLAGS", "GOTOOLCHAIN",
	"NPM_CONFIG_REGISTRY", "npm_config_registry", "PIP_INDEX_URL", "SSL_CERT_FILE", "SSL_CERT_DIR"}

func (p *project) variables() (variables []string) {
	for _, name := range append(slices.Clone(passedOn), p.config.Environment.Variables...) {
		if strings.Contains(name, "=") {
			variables = append(variables, name)
		} else if value := p.Env(name); value != "" {
			variables = append(variables, name+"="+value)
		}
	}
	return variables
}

func (p *project) driver() environment.Driver {
	c := p.cloneConfig()
	if p.config.Environment.Driver == config.DriverContainer {
		return p.containerDriver(c)
	}
	return clone.New(c)
}

func (p *project) environmentsFolder() string {
	return filepath.Join(p.root, ".signalbox", "environments")
}

func (p *project) cloneConfig() clone.Config {
	ways := map[string]clone.Way{config.WarmOn: clone.Auto, config.WarmShared: clone.Shared, config.WarmOff: clone.Off}
	return clone.Config{Repo: p.repo, Warm: ways[p.config.Environment.Warm], Exec: p.host(), Root: p.root,
		State: p.environmentsFolder(), Variables: p.variables(),
		Unsandboxed: p.config.Environment.Sandbox == config.SandboxNone, ReadOnly: p.readable(), Cache: int64(p.config.Environment.Cache),
		Network: p.config.Environment.Network, Egress: p.policy(), Limits: p.limits(), Logger: p.log}
}

// policy is what commands reach when the network is that of registries. What a variable names,
// of those that commands and agents get, is reached: nobody passes on GOPROXY for nothing.
func (p *project) policy() egress.Policy {
	variables := p.variables()
	for _, a := range p.config.Agents {
		variables = append(variables, a.Env...)
	}
	policy, err := egress.NewPolicy(p.config.Environment.Allow, variables)
	if err != nil && p.configError == nil {
		p.configError = &problem{err: err, hint: "mend environment.allow in " + config.Name}
	}
	return policy
}

func (p *project) limits() process.Limits {
	e := p.config.Environment
	return process.Limits{Memory: int64(e.Memory), CPUs: e.CPUs, Processes: e.Processes}
}

// readable are the host paths that the configuration opens, and absolute paths
// that an agent's arguments name.
func (p *project) readable() []string {
	paths := slices.Clone(p.config.Environment.Read)
	for _, a := range p.config.Agents {
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

// mayBegin says why no new run can be started here, nil if one can.
func (p *project) mayBegin() error {
	if name, _, ok := p.config.AgentFor(string(workflow.Implementer), p.workflowName()); !ok {
		if several := slices.Sorted(maps.Keys(p.config.Agents)); name == "" && len(several) > 1 {
			return &problem{err: fmt.Errorf("no role says which agent implements: there are %s", redact.Line(strings.Join(several, ", "), 200)),
				hint: fmt.Sprintf("say it in %s: roles: {implementer: %s}", config.Name, several[0])}
		}
		return &problem{err: errors.New("no agent is configured that could implement anything"),
			hint: fmt.Sprintf("name one in %s (\"signalbox init\" writes a commented one), or give a program: --agent ./agent.sh", config.Name)}
	}
	return p.inMainTree()
}

// inMainTree says why nothing can begin in a linked work tree, nil if this is none.
func (p *project) inMainTree() error {
	// State lies in one folder and refs in one repository: two work trees of it would each
	// take the other's branches for their own.
	if link, err := os.ReadFile(filepath.Join(p.root, ".git")); err == nil && strings.Contains(string(link), "/worktrees/") {
		main := filepath.Dir(p.repo.GitDir())
		return &problem{err: errors.New("this is a linked work tree, and Signalbox keeps its place in the main one"),
			hint: fmt.Sprintf("cd %s; a request's base says which branch it is merged into", main)}
	}
	return nil
}

func (p *project) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.root, path)
}

func (p *project) testCandidate(ctx context.Context, c local.Candidate) (local.Verdict, error) {
	tester := runner.CandidateTester{Store: p.store, Environments: p.environments, Detect: p.detect, Redact: p.redact, Ask: p.ask}
	v, err := tester.Test(ctx, runner.Candidate{RequestID: c.Request, Pull: c.Pull, Commit: c.Commit, Tree: c.Tree})
	return local.Verdict{Passed: v.Passed, Unsettled: v.Unsettled, Command: v.Command, LogPath: v.LogPath, Summary: v.Summary, Duration: v.Duration}, err
}

// runner is what carries runs; observe is told of every transition.
func (p *project) runner(ctx context.Context, observe func(workflow.Run)) (*runner.Runner, error) {
	if p.configError != nil {
		return nil, p.configError
	}
	if _, err := p.environments.Check(ctx); err != nil {
		return nil, explained(err)
	}
	agents, err := p.agents(ctx)
	if err != nil {
		return nil, err
	}
	if p.flags.agent != "" && p.config.Environment.Driver != config.DriverContainer { // an image has its own programs
		if _, err := agents[workflow.Implementer].Check(ctx); err != nil {
			return nil, p.notAnAgent(err)
		}
	}
	own, err := p.prompts()
	if err != nil {
		return nil, err
	}
	return runner.New(runner.Config{Prompts: own, Rules: p.rules(), Store: p.store, Repo: p.repo, Forge: p.forge, Environments: p.environments, Detect: p.detect, Agents: agents,
		Program: p.flags.agent, Named: p.named,
		Ask: p.ask, Isolation: p.isolation(), Offline: p.offline(), MaxParallel: p.config.MaxParallel, PerRun: p.perRun(), PerDay: p.perDay(), Clock: runner.Clock{Now: now, After: time.After}, Redact: p.redact,
		Observe: observe, Logger: p.log}), nil
}

// notAnAgent says why what --agent names cannot work.
func (p *project) notAnAgent(err error) error {
	wrong := &problem{err: fmt.Errorf("--agent %s: %w", p.flags.agent, err), code: exitUsage,
		hint: "want an agent of " + config.Name + ", or a program by name or by its path from the project's root: --agent ./agent.sh"}
	c := p.config.Agents[p.flags.agent]
	configured := c.Driver != "" && !slices.Equal(c.Command, []string{p.flags.agent}) // else onlyAgent took it for a program
	if !configured && errors.Is(err, os.ErrNotExist) && !strings.Contains(p.flags.agent, "/") {
		wrong.err = fmt.Errorf("--agent %s: there is no such agent in %s, and no such program in PATH", p.flags.agent, config.Name)
	}
	return wrong
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
