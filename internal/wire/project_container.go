package wire

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/config"
	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/container"
	"signalbox/internal/environment/container/engine"
)

// ofThisMachine are variables whose values are paths on this machine. An image has its own.
var ofThisMachine = []string{"PATH"}

// dockerVariables say where Docker is. They are for the program that speaks to it, never for commands.
var dockerVariables = []string{"PATH", "HOME", "DOCKER_HOST", "DOCKER_API_VERSION", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"}

// containerDriver is the driver that puts a container beside each clone.
func (p *Project) containerDriver(c clone.Config) environment.Driver {
	e := p.Config.Environment
	c.Unsandboxed, c.ReadOnly = false, p.certificatePaths() // git alone runs there
	self, err := ownProgram()
	if err != nil {
		p.Log.Warn("find own program", "error", err) // Check says what it means
	}
	return container.New(container.Config{
		Clone: c, Variables: p.inside(), ReadOnly: p.shown(), Image: e.Image, Dockerfile: e.Dockerfile,
		Network: e.Network, Egress: c.Egress, Proxy: c.Proxy, Roots: c.Roots, Limits: p.Limits(), Capabilities: e.Capabilities,
		Program: self, Docker: dockerProgram(self), DockerEnv: p.values(dockerVariables), Logger: p.Log,
	})
}

// Isolation is what stands between commands and this machine.
func (p *Project) Isolation() string {
	if p.Config.Environment.Driver == config.DriverContainer {
		return config.DriverContainer
	}
	return p.Config.Environment.Sandbox
}

// Offline: commands reach no network, and something keeps them from it.
func (p *Project) Offline() bool {
	return p.Config.Environment.Network == config.NetworkNone && p.Isolation() != config.SandboxNone
}

// inside are the variables for commands in a container: those that a person asked for, and of
// the ones that are passed on anyway those that mean something there.
func (p *Project) inside() []string {
	return slices.DeleteFunc(p.Variables(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(ofThisMachine, name) && !slices.ContainsFunc(p.Config.Environment.Variables, func(asked string) bool {
			asked, _, _ = strings.Cut(asked, "=")
			return asked == name
		})
	})
}

func (p *Project) values(names []string) (variables []string) {
	for _, name := range names {
		if value := p.Env(name); value != "" {
			variables = append(variables, name+"="+value)
		}
	}
	return variables
}

// shown are the host paths of every container: what the configuration opens, and the agents'
// own programs, which would otherwise be added when each is first asked for.
func (p *Project) shown() []string {
	paths := p.readable()
	for _, a := range p.Config.Agents {
		if len(a.Command) > 0 && strings.Contains(a.Command[0], "/") {
			paths = append(paths, p.Abs(a.Command[0]))
		}
	}
	if slices.ContainsFunc(p.Config.Health.Checks, func(c config.Check) bool { return c.Start != "" }) {
		if self, err := ownProgram(); err == nil {
			paths = append(paths, self) // it asks what was started
		}
	}
	slices.Sort(paths)
	return slices.DeleteFunc(slices.Compact(paths), func(path string) bool {
		_, err := os.Stat(path)
		return err != nil
	})
}

// dockerProgram is the program that speaks to Docker: the one beside our own, else the one in
// PATH; empty if there is none.
func dockerProgram(self string) string {
	beside := filepath.Join(filepath.Dir(self), engine.Name)
	if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
		return beside
	}
	path, err := exec.LookPath(engine.Name)
	if err != nil {
		return ""
	}
	return path
}
