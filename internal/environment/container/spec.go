package container

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/environment/container/engine"
	"signalbox/internal/environment/egress"
	"signalbox/internal/environment/execserver"
	"signalbox/internal/lazy"
)

// The paths inside.
const (
	workspace     = "/workspace"
	home          = "/home/signalbox"
	runFolder     = "/run/signalbox"
	programInside = "/usr/libexec/" + execserver.Name
)

// The labels of containers and images.
const (
	labelProject = "signalbox.project" // the project's root
	labelEnv     = "signalbox.env"     // the environment's id
	labelRun     = "signalbox.run"     // the run's id, if the environment's contains it
	labelConfig  = "signalbox.config"  // a digest of what the container was made from
)

// temporary are folders whose content is never part of the work.
var temporary = []string{"/tmp", "/var/tmp", "/run", "/dev"}

// spec returns the container that the environment should have now. A container with another labelConfig is
// replaced.
func (e *Environment) spec() *engine.Spec {
	d := e.driver
	s := &engine.Spec{
		Name: d.containers + e.id, Image: e.state.Image,
		Program: []string{programInside, runFolder},
		User:    fmt.Sprintf("%d:%d", os.Geteuid(), os.Getegid()),
		Mounts:  e.mounts(), Network: "bridge", Capabilities: d.config.Capabilities,
		Memory: d.config.Limits.Memory, CPUs: d.config.Limits.CPUs, Processes: int64(d.config.Limits.Processes),
	}
	if d.config.Network != egress.Full {
		s.Network = "none"
	}
	if d.config.Network == egress.Registries { // the exec server leads the policy's addresses to the proxy
		s.Program = append(append(s.Program, filepath.Join(egressInside, egressSocket)), d.config.Egress.Addresses()...)
	}
	data, err := json.Marshal(struct {
		Spec                     *engine.Spec
		Labels                   map[string]string
		Server, Driver, Protocol string
	}{Spec: s, Server: execserver.Name, Driver: version, Protocol: execserver.Version})
	if err != nil {
		panic(fmt.Sprintf("encode container: %v", err)) // no part of it can fail to be encoded
	}
	s.Labels = d.labels(e.id)
	s.Labels[labelConfig] = hash(string(data))
	return s
}

// runPattern matches a run's id at the end of an environment's.
var runPattern = lazy.Pattern(`-([0-9]{8}-[0-9]{6}-[a-z0-9]{6})$`)

// labels returns the labels that name the owner of a container or an image.
func (d *Driver) labels(id string) map[string]string {
	labels := map[string]string{labelProject: d.config.Clone.Root, labelEnv: id}
	if run := runPattern().FindStringSubmatch(id); run != nil {
		labels[labelRun] = run[1]
	}
	return labels
}

// mounts returns all host paths that the container shows, parents first.
func (e *Environment) mounts() []engine.Mount {
	hostWork, hostHome := e.clone.HostFolders()
	list := []engine.Mount{
		{Source: hostWork, Target: workspace},
		{Source: hostHome, Target: home},
		{Source: e.runFolder, Target: runFolder},
		{Source: e.driver.config.Program, Target: programInside, ReadOnly: true},
		{Source: e.egressFolder, Target: egressInside, ReadOnly: true},
	}
	for _, path := range e.driver.config.ReadOnly {
		list = append(list, engine.Mount{Source: path, Target: filepath.Clean(path), ReadOnly: true})
	}
	list = append(list, e.state.Shown...)
	slices.SortStableFunc(list, func(a, b engine.Mount) int { return strings.Compare(a.Target, b.Target) })
	return list
}

// requests returns the mounts that a command asks for and the container lacks.
func (e *Environment) requests(reads, writes []string) (missing []engine.Mount, err error) {
	shown := e.mounts()
	for i, path := range slices.Concat(reads, writes) {
		m := engine.Mount{Source: filepath.Clean(path), Target: filepath.Clean(path), ReadOnly: i < len(reads)}
		if err := e.driver.mayShow(path); err != nil {
			return nil, fmt.Errorf("show %q in the container: %w", path, err)
		}
		visible := slices.ContainsFunc(shown, func(have engine.Mount) bool {
			return have.Source == have.Target && within(m.Target, have.Target) && (m.ReadOnly || !have.ReadOnly)
		})
		if !visible && !slices.Contains(missing, m) {
			missing = append(missing, m)
		}
	}
	return missing, nil
}

// mayShow refuses host paths that hold more than a command may see.
func (d *Driver) mayShow(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("want an absolute path")
	}
	path = filepath.Clean(path)
	secrets := []string{"/run/docker.sock", "/var/run/docker.sock"}
	for _, entry := range d.config.DockerEnv {
		if socket, found := strings.CutPrefix(entry, "DOCKER_HOST=unix://"); found {
			secrets = append(secrets, filepath.Clean(socket))
		}
	}
	for _, secret := range append(secrets, d.config.Clone.Root, d.config.Clone.State, "/var/lib/docker", "/proc", "/sys", "/dev") {
		if within(secret, path) {
			return fmt.Errorf("it contains %s", secret)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return fmt.Errorf("want a file or a folder")
	}
	return nil
}

// within reports whether path is dir or below it. Both are clean and absolute.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
