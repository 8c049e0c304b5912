package doctor

import (
	"context"

	"signalbox/internal/commandline"
	"signalbox/internal/config"
	"signalbox/internal/environment"
	"signalbox/internal/wire"
)

func (p *examination) lookAtIsolation(ctx context.Context, add func(Finding)) {
	note, err := p.Environments.Check(ctx)
	switch {
	case p.Config.Environment.Driver == config.DriverContainer && err != nil:
		add(Finding{"containers", VerdictMissing, err.Error(), ""})
	case p.Config.Environment.Driver == config.DriverContainer:
		add(Finding{What: "containers", Verdict: VerdictOK, Says: note})
	case err != nil:
		limits := ""
		if e := p.Config.Environment; e.Memory != 0 || e.CPUs != 0 || e.Processes != 0 { // they may keep a sandbox from starting
			limits = "raise environment.memory, cpus or processes; or "
		}
		add(Finding{"isolation", VerdictMissing, err.Error(), limits + environment.IsolationAdvice(err) + "; or, if you trust what will run: signalbox run --unsandboxed"})
	case p.Config.Environment.Sandbox == config.SandboxNone:
		add(Finding{"isolation", VerdictWarning, "none: agents and commands run on this machine as you. " + note, "set environment.sandbox: bubblewrap"})
	default:
		says := "bubblewrap, with a process namespace of its own"
		if !p.Config.Environment.UserNamespaces && wire.Filters() {
			says += "; user namespaces are closed"
		}
		if note != "" {
			says += "; " + note
		}
		add(Finding{What: "isolation", Verdict: VerdictOK, Says: says})
	}
}

func (p *examination) lookAtNetwork(add func(Finding)) {
	open := Finding{"network", VerdictWarning, "agents and commands reach everything that this machine does, its own services too",
		"set environment.network: registries in " + config.Name}
	e := p.Config.Environment
	switch {
	case e.Driver == config.DriverClone && e.Sandbox == config.SandboxNone:
		open.Next = "only a sandbox can close it: set environment.sandbox: bubblewrap"
		add(open)
	case e.Network == config.NetworkFull:
		add(open)
	case e.Network == config.NetworkNone:
		add(Finding{What: "network", Verdict: VerdictOK, Says: "none, but for the model of an agent whose key Signalbox keeps"})
	default:
		says := "package registries, and addresses in environment.variables"
		if len(e.Allow) > 0 {
			says = "package registries, addresses in environment.variables, and " + commandline.Count(len(e.Allow), "host") + " of environment.allow"
		}
		add(Finding{What: "network", Verdict: VerdictOK, Says: says})
	}
}
