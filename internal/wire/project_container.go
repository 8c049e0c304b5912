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
	// PATH is of this machine, and an image has its own: commands get it only if the configuration asks for it.
	isPath := func(variable string) bool { return variable == "PATH" || strings.HasPrefix(variable, "PATH=") }
	variables := p.Variables()
	if !slices.ContainsFunc(e.Variables, isPath) {
		variables = slices.DeleteFunc(variables, isPath)
	}
	// The program that speaks to Docker is the one beside our own, else the one in PATH; empty if there is none.
	speaks := filepath.Join(filepath.Dir(self), engine.Name)
	if info, err := os.Stat(speaks); err != nil || !info.Mode().IsRegular() {
		if speaks, err = exec.LookPath(engine.Name); err != nil {
			speaks = ""
		}
	}
	var docker []string
	for _, name := range dockerVariables {
		if value := p.Env(name); value != "" {
			docker = append(docker, name+"="+value)
		}
	}
	return container.New(container.Config{
		Clone: c, Variables: variables, ReadOnly: p.shown(), Image: e.Image, Dockerfile: e.Dockerfile,
		Network: e.Network, Egress: c.Egress, Proxy: c.Proxy, Roots: c.Roots, Limits: p.Limits(), Capabilities: e.Capabilities,
		Program: self, Docker: speaks, DockerEnv: docker, Logger: p.Log,
	})
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
