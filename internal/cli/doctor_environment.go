package cli

import (
	"context"

	"signalbox/internal/config"
	"signalbox/internal/environment/clone"
	"signalbox/internal/process"
)

func (p *project) lookAtIsolation(ctx context.Context, add func(finding)) {
	note, err := p.Environments.Check(ctx)
	switch {
	case p.Config.Environment.Driver == config.DriverContainer && err != nil:
		add(finding{"containers", verdictMissing, err.Error(), ""})
	case p.Config.Environment.Driver == config.DriverContainer:
		add(finding{What: "containers", Verdict: verdictOK, Says: note})
	case err != nil:
		add(finding{"isolation", verdictMissing, err.Error(), p.limited() + "apt-get install bubblewrap; or, if you trust what will run: signalbox run --unsandboxed"})
	case p.Config.Environment.Sandbox == config.SandboxNone:
		add(finding{"isolation", verdictWarning, "none: agents and commands run on this machine as you. " + note, "set environment.sandbox: bubblewrap"})
	default:
		says := "bubblewrap, with a process namespace of its own"
		if !p.Config.Environment.UserNamespaces && clone.Filters() {
			says += "; user namespaces are closed"
		}
		if note != "" {
			says += "; " + note
		}
		add(finding{What: "isolation", Verdict: verdictOK, Says: says})
	}
}

// limited names the limits that could be what keeps a sandbox from starting.
func (p *project) limited() string {
	if p.Limits() == (process.Limits{}) {
		return ""
	}
	return "raise environment.memory, cpus or processes; or "
}

func (p *project) lookAtNetwork(add func(finding)) {
	open := finding{"network", verdictWarning, "agents and commands reach whatever this machine does, its own services too",
		"set environment.network: registries in " + config.Name}
	e := p.Config.Environment
	switch {
	case e.Driver == config.DriverClone && e.Sandbox == config.SandboxNone:
		open.Next = "only a sandbox can close it: set environment.sandbox: bubblewrap"
		add(open)
	case e.Network == config.NetworkFull:
		add(open)
	case e.Network == config.NetworkNone:
		add(finding{What: "network", Verdict: verdictOK, Says: "none, but for the model of an agent whose key Signalbox keeps"})
	default:
		says := "package registries, and addresses in environment.variables"
		if len(e.Allow) > 0 {
			says = "package registries, addresses in environment.variables, and " + count(len(e.Allow), "host") + " of environment.allow"
		}
		add(finding{What: "network", Verdict: verdictOK, Says: says})
	}
}
