package cli

import (
	"context"
	"fmt"
	"strings"

	"signalbox/internal/config"
	"signalbox/internal/process"
)

func (p *project) lookAtIsolation(ctx context.Context, add func(finding)) {
	note, err := p.environments.Check(ctx)
	switch {
	case p.config.Environment.Driver == config.DriverContainer && err != nil:
		add(finding{"containers", verdictMissing, err.Error(), ""})
	case p.config.Environment.Driver == config.DriverContainer:
		add(finding{What: "containers", Verdict: verdictOK, Says: note})
	case err != nil:
		add(finding{"isolation", verdictMissing, err.Error(), p.limited() + "apt-get install bubblewrap; or, if you trust what will run: signalbox run --unsandboxed"})
	case p.config.Environment.Sandbox == config.SandboxNone:
		add(finding{"isolation", verdictWarning, "none: agents and commands run on this machine as you. " + note, "set environment.sandbox: bubblewrap"})
	default:
		add(finding{What: "isolation", Verdict: verdictOK, Says: strings.TrimSpace("bubblewrap, with a process namespace of its own. " + note)})
	}
}

// limited names the limits that could be what keeps a sandbox from starting.
func (p *project) limited() string {
	if p.limits() == (process.Limits{}) {
		return ""
	}
	return "raise environment.memory, cpus or processes; or "
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
		add(finding{What: "network", Verdict: verdictOK, Says: "none, but for the model of an agent whose key Signalbox keeps"})
	default:
		add(finding{What: "network", Verdict: verdictOK, Says: fmt.Sprintf(
			"package registries, what variables name, and %d in environment.allow", len(e.Allow))})
	}
}
