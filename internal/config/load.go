package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
)

// maxSize is the largest file that is read, in bytes.
const maxSize = 1 << 20

// Load reads the file at path over the defaults, then the environment over both. A missing file is no error: found says whether there was one.
func Load(path string, getenv func(string) string) (c Config, found bool, err error) {
	data, found, err := Read(path)
	if err != nil {
		return Default(), found, err
	}
	c, err = Parse(path, data, getenv)
	return c, found, err
}

// Read returns the bytes of the file at path, at most as many as Parse accepts. A missing file is no error: found says whether there was one.
func Read(path string) (data []byte, found bool, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read configuration: %w", err)
	}
	defer func() { _ = file.Close() }()
	data, err = io.ReadAll(io.LimitReader(file, maxSize+1))
	if err != nil {
		return nil, true, fmt.Errorf("configuration %s: %w", path, err)
	}
	return data, true, nil
}

// Parse reads the settings from the bytes of the file called name over the defaults, then the environment over both. No bytes mean no file.
func Parse(name string, data []byte, getenv func(string) string) (Config, error) {
	return parse(name, data, getenv, func(c Config) Config { return c })
}

// ParseWithheld is Parse for a user who has not agreed to the file's effects on this machine.
func ParseWithheld(name string, data []byte, getenv func(string) string, unsandboxed bool) (Config, error) {
	return parse(name, data, getenv, func(c Config) Config { return c.WithoutReach(unsandboxed) })
}

func parse(name string, data []byte, getenv func(string) string, kept func(Config) Config) (Config, error) {
	c := Default()
	var places places
	var already told
	var problems error
	if data != nil {
		if places, already, problems = parseInto(data, &c); places == nil {
			return c, fmt.Errorf("configuration %s: %w", name, problems)
		}
	}
	c = kept(c)
	from, ofVariable := c.environment(getenv, places)
	c.Environment.expand(getenv("HOME"))
	c.Forge.App.Key = atHome(c.Forge.App.Key, getenv("HOME"))
	var ofFile []error
	for _, problem := range flat(errors.Join(problems, already.beyond(c.validate(), places))) {
		i := (*invalid)(nil)
		if !errors.As(problem, &i) || from[i.key] == "" {
			ofFile = append(ofFile, problem)
		} else if ofVariable == nil {
			ofVariable = &VariableError{from[i.key], i.says}
		}
	}
	if err := places.located(errors.Join(ofFile...)); err != nil {
		return c, errors.Join(ofVariable, fmt.Errorf("configuration %s: %w", name, err))
	}
	return c, ofVariable
}

// atHome replaces "~/" at the beginning of a path by the home folder.
func atHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return path
}

// expand replaces "~/" at the beginning of paths and values by the home folder.
func (e *Environment) expand(home string) {
	if home == "" {
		return
	}
	for i, path := range e.Read {
		e.Read[i] = atHome(path, home)
	}
	for i, variable := range e.Variables {
		name, value, _ := strings.Cut(variable, "=")
		if at := atHome(value, home); at != value {
			e.Variables[i] = name + "=" + at
		}
	}
}

// leastKept is how long programs may rely on the status of a finished issue.
const leastKept = 7 * 24 * time.Hour

func (c *Config) validate() error {
	problems := []error{
		oneOf("approve", c.Approve, ApproveManual, ApproveAuto, ApproveForge),
		oneOf("push", c.Push, PushAuto, PushNever),
		oneOf("commit.sign", c.Commit.Sign, "auto", "always", "never"),
		oneOf("commit.trailer", c.Commit.Trailer, "assisted-by", "co-authored-by", "none"),
		oneOf("environment.driver", c.Environment.Driver, DriverClone, DriverContainer),
		oneOf("environment.sandbox", c.Environment.Sandbox, SandboxBubblewrap, SandboxNone),
		oneOf("environment.network", c.Environment.Network, NetworkRegistries, NetworkNone, NetworkFull),
		oneOf("environment.warm", c.Environment.Warm, WarmOn, WarmShared, WarmOff),
		oneOf("environment.on_failure", c.Environment.OnFailure, OnFailureContinue, OnFailureStop),
	}
	problems = append(problems, c.Environment.validate()...)
	if c.MaxParallel < 1 || c.MaxParallel > 256 {
		problems = append(problems, wrong("max_parallel", " is %d: want 1 to 256", c.MaxParallel))
	}
	if c.KeepStatuses != 0 && c.KeepStatuses < leastKept {
		problems = append(problems, wrong("keep_statuses", " is %s: want %s or longer, or 0 for ever", c.KeepStatuses, "168h"))
	}
	if len(c.Workflow) == 0 {
		problems = append(problems, wrong("workflow", " is empty: want full, simple or a list of phases"))
	}
	problems = append(problems, c.validateForge()...)
	problems = append(problems, c.validateAgents()...)
	problems = append(problems, c.validateHealth()...)
	problems = append(problems, c.Notify.validate()...)
	problems = append(problems, positive("limits", reflect.ValueOf(c.Limits))...)
	return errors.Join(problems...)
}

func oneOf(key, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return wrong(key, " is %q: want %s", value, strings.Join(allowed, " or "))
}
