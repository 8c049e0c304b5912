package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/agent"
	"signalbox/internal/config"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

func newDoctor(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "doctor",
		Short:   "Say what works here, what is missing and what to do about it",
		Example: "  signalbox doctor\n  signalbox doctor --json",
		RunE:    func(c *cobra.Command, _ []string) error { return a.doctor(c.Context()) },
	}
}

// finding is one thing that doctor looked at.
type finding struct {
	What string `json:"what"`
	// Verdict is ok, warning or missing.
	Verdict string `json:"verdict"`
	Says    string `json:"says"`
	Next    string `json:"next,omitempty"`
}

const (
	verdictOK      = "ok"
	verdictWarning = "warning"
	verdictMissing = "missing"
)

func (a *app) doctor(ctx context.Context) error {
	p, err := a.open(ctx)
	if err != nil {
		return err
	}
	var findings []finding
	add := func(f finding) { findings = append(findings, f) }
	add(finding{What: "repository", Verdict: verdictOK, Says: p.root})
	p.lookAtConfig(add)
	p.lookAtIsolation(ctx, add)
	p.lookAtNetwork(add)
	p.lookAtAgents(ctx, add)
	p.lookAtRequests(ctx, add)
	p.lookAtRuns(ctx, add)
	missing := 0
	for _, f := range findings {
		if f.Verdict == verdictMissing {
			missing++
		}
	}
	if a.json {
		if err := a.printJSON(findings); err != nil {
			return err
		}
	} else {
		a.printFindings(findings)
	}
	if missing > 0 {
		return &problem{code: exitError}
	}
	return nil
}

func (a *app) printFindings(findings []finding) {
	code := map[string]string{verdictOK: green, verdictWarning: yellow, verdictMissing: red}
	for _, f := range findings {
		a.print("%s %-14s %s\n", a.paint(code[f.Verdict], fmt.Sprintf("%-8s", f.Verdict)), f.What, redact.Line(f.Says, 300))
		if f.Next != "" {
			a.print("         %-14s %s\n", "", redact.Line(f.Next, 300))
		}
	}
}

func (p *project) lookAtConfig(add func(finding)) {
	if p.configError != nil {
		add(finding{"configuration", verdictMissing, p.configError.Error(), "mend the file; until then the defaults are shown"})
	} else if !p.configured {
		add(finding{"configuration", verdictWarning, "there is no " + config.Name + "; the defaults hold", "write one: signalbox init"})
	} else {
		add(finding{What: "configuration", Verdict: verdictOK, Says: config.Name})
	}
	if len(p.config.Tests) == 0 {
		add(finding{"tests", verdictWarning, "no test command is configured, so nothing proves a change", "set tests in " + config.Name})
	} else {
		add(finding{What: "tests", Verdict: verdictOK, Says: fmt.Sprint([]string(p.config.Tests))})
	}
	if own, err := p.prompts(); err != nil {
		add(finding{"prompts", verdictMissing, err.Error(), "mend the file below " + promptsDir})
	} else if len(own) > 0 {
		add(finding{What: "prompts", Verdict: verdictOK, Says: count(len(own), "prompt") + " of the project's own in " + promptsDir})
	}
	if p.config.Environment.OnFailure == config.OnFailureContinue {
		add(finding{What: "set-up", Verdict: verdictOK, Says: "a run goes on, with a warning, where the environment cannot be set up (environment.on_failure: continue)"})
	} else {
		add(finding{What: "set-up", Verdict: verdictOK, Says: "a run stops where the environment cannot be set up (environment.on_failure: stop)"})
	}
	for _, path := range p.config.Environment.Read {
		if _, err := os.Stat(path); err != nil || !filepath.IsAbs(path) {
			add(finding{"environment", verdictWarning, fmt.Sprintf("%q cannot be shown to commands", path), "set environment.read to absolute paths that exist"})
		}
	}
}

func (p *project) lookAtIsolation(ctx context.Context, add func(finding)) {
	note, err := p.environments.Check(ctx)
	switch {
	case p.config.Environment.Driver == config.DriverContainer && err != nil:
		add(finding{"containers", verdictMissing, err.Error(), ""})
	case p.config.Environment.Driver == config.DriverContainer:
		add(finding{What: "containers", Verdict: verdictOK, Says: note})
	case err != nil:
		add(finding{"isolation", verdictMissing, err.Error(), "apt-get install bubblewrap; or, if you trust what will run: signalbox run --unsandboxed"})
	case p.config.Environment.Sandbox == config.SandboxNone:
		add(finding{"isolation", verdictWarning, "none: agents and commands run on this machine as you. " + note, "set environment.sandbox: bubblewrap"})
	default:
		add(finding{What: "isolation", Verdict: verdictOK, Says: strings.TrimSpace("bubblewrap, with a process namespace of its own. " + note)})
	}
}

func (p *project) lookAtNetwork(add func(finding)) {
	open := finding{"network", verdictWarning, "agents and commands reach whatever this machine does, its own services too",
		"set environment.network: registries in " + config.Name}
	e := p.config.Environment
	switch {
	case e.Driver == config.DriverClone && e.Sandbox == config.SandboxNone:
		open.Next = "only a sandbox can close it: set environment.sandbox: bubblewrap"
		add(open)
	case e.Network == config.NetworkFull:
		add(open)
	case e.Network == config.NetworkNone:
		add(finding{What: "network", Verdict: verdictOK, Says: "none: an agent reaches its model only if that runs inside"})
	default:
		add(finding{What: "network", Verdict: verdictOK, Says: fmt.Sprintf(
			"package registries, what variables name, and %d in environment.allow", len(e.Allow))})
	}
}

func (p *project) lookAtAgents(ctx context.Context, add func(finding)) {
	agents, err := p.agents()
	if err == nil {
		err = p.mayBegin()
	}
	if err != nil {
		var known *problem
		hint := ""
		if errors.As(err, &known) {
			hint = known.hint
		}
		add(finding{"agents", verdictMissing, err.Error(), hint})
		return
	}
	does := map[agent.Agent][]string{}
	var distinct []agent.Agent
	for _, role := range workflow.Roles {
		a, ok := agents[role]
		if !ok {
			add(finding{string(role), verdictWarning, "nobody: its phases are skipped", "name an agent in roles"})
			continue
		}
		if does[a] == nil {
			distinct = append(distinct, a)
		}
		does[a] = append(does[a], string(role))
	}
	for _, a := range distinct {
		p.lookAtAgent(ctx, a, strings.Join(does[a], ", "), add)
	}
}

func (p *project) lookAtAgent(ctx context.Context, a agent.Agent, roles string, add func(finding)) {
	version, err := a.Check(ctx)
	if err != nil {
		add(finding{"agent " + a.Name(), verdictMissing, err.Error(), "install it, or mend agents." + a.Name() + " in " + config.Name})
		return
	}
	add(finding{What: "agent " + a.Name(), Verdict: verdictOK, Says: strings.TrimSpace(version + " " + roles)})
}

func (p *project) lookAtRequests(ctx context.Context, add func(finding)) {
	requests, err := p.forge.Requests(ctx)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		add(finding{"requests", verdictWarning, err.Error(), "mend the file"})
	}
	add(finding{What: "requests", Verdict: verdictOK, Says: fmt.Sprintf("%d in requests/", len(requests))})
}

func (p *project) lookAtRuns(ctx context.Context, add func(finding)) {
	runs, err := p.latest(ctx)
	if err != nil {
		add(finding{"runs", verdictMissing, err.Error(), ""})
		return
	}
	for _, r := range runs {
		if r.Err != nil {
			add(finding{"run", verdictMissing, r.Err.Error(), "the file is kept as it is: mend it by hand, or move its folder away"})
			continue
		}
		_, held, err := p.held(ctx, r.Ref.RequestID)
		if err == nil && !held && (r.Run.State == workflow.Running || r.Run.State == workflow.Queued) {
			add(finding{"run " + r.Run.Ref(), verdictWarning, "no process carries it: it was cut off", "signalbox resume " + r.Run.Ref()})
		}
	}
}
