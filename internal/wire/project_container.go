package wire

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/container"
	"signalbox/internal/environment/container/engine"
)

// dockerVariables say where Docker is. Only the program that speaks to Docker gets them, never a command.
var dockerVariables = []string{"PATH", "HOME", "DOCKER_HOST", "DOCKER_API_VERSION", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"}

// containerDriver is the driver that runs a container for each clone.
func (p *Project) containerDriver(c clone.Config) environment.Driver {
	e := p.Config.Environment
	c.Unsandboxed, c.ReadOnly = false, p.certificatePaths() // git alone runs there
	self, err := ownProgram()
	if err != nil {
		p.Log.Warn("find own program", "error", err) // the driver's Check reports it
	}
	// An image has a PATH of its own, so commands get this machine's only if the configuration asks for it.
	isPath := func(variable string) bool { return variable == "PATH" || strings.HasPrefix(variable, "PATH=") }
	variables := c.Variables
	if !slices.ContainsFunc(e.Variables, isPath) {
		variables = slices.DeleteFunc(slices.Clone(variables), isPath)
	}
	// The program that speaks to Docker is beside our own or in PATH; empty if there is none.
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
		Clone: c, Variables: variables, ReadOnly: p.readable(true), Image: e.Image, Dockerfile: e.Dockerfile,
		Network: e.Network, Egress: c.Egress, Proxy: c.Proxy, Roots: c.Roots, Limits: c.Limits, Capabilities: e.Capabilities,
		Program: self, Docker: speaks, DockerEnv: docker, Logger: p.Log,
	})
}
