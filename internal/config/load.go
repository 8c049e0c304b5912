package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxSize is the largest file that is read, in bytes.
const maxSize = 1 << 20

// Lines is one line or a list of them.
type Lines []string

// UnmarshalYAML accepts a string or a list of strings.
func (l *Lines) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*l = nil
		if node.Value != "" {
			*l = Lines{node.Value}
		}
		return nil
	}
	var list []string
	if err := node.Decode(&list); err != nil {
		return fmt.Errorf("line %d: want a line or a list of lines", node.Line)
	}
	*l = list
	return nil
}

// Load reads the file at path over the defaults, then the environment over
// both. A missing file is no error: found says whether there was one.
func Load(path string, getenv func(string) string) (c Config, found bool, err error) {
	c = Default()
	file, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return c, false, fmt.Errorf("read configuration: %w", err)
	default:
		defer func() { _ = file.Close() }()
		found = true
		if err := c.parse(file); err != nil {
			return c, true, fmt.Errorf("configuration %s: %w", path, err)
		}
	}
	if err := c.environment(getenv); err != nil {
		return c, found, err
	}
	c.Environment.expand(getenv("HOME"))
	if err := c.validate(); err != nil {
		return c, found, fmt.Errorf("configuration %s: %w", path, err)
	}
	return c, found, nil
}

func (c *Config) parse(r io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err != nil {
		return err
	}
	if len(data) > maxSize {
		return fmt.Errorf("has more than %d bytes", maxSize)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return inWords(err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.New("holds more than one document")
	}
	return nil
}

// unknownKey is how the decoder speaks of a key that no field of ours has.
var unknownKey = regexp.MustCompile(`field (\S+) not found in type \S+`)

// inWords is the decoder's error without its own vocabulary; it names lines already.
func inWords(err error) error {
	var mismatch *yaml.TypeError
	if !errors.As(err, &mismatch) {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var problems []error
	for _, e := range mismatch.Errors {
		problems = append(problems, errors.New(unknownKey.ReplaceAllString(e, `there is no key "$1"`)))
	}
	return errors.Join(problems...)
}

// environment lets variables win over the file: SIGNALBOX_WORKFLOW,
// SIGNALBOX_APPROVE, SIGNALBOX_MAX_PARALLEL and SIGNALBOX_SANDBOX.
func (c *Config) environment(getenv func(string) string) error {
	if v := getenv("SIGNALBOX_WORKFLOW"); v != "" {
		c.Workflow = strings.Split(v, ",")
	}
	if v := getenv("SIGNALBOX_APPROVE"); v != "" {
		c.Approve = v
	}
	if v := getenv("SIGNALBOX_SANDBOX"); v != "" {
		c.Environment.Sandbox = v
	}
	if v := getenv("SIGNALBOX_MAX_PARALLEL"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			return fmt.Errorf("SIGNALBOX_MAX_PARALLEL is %q: want a number", v)
		}
		c.MaxParallel = n
	}
	return nil
}

// expand puts the home folder in the place of every "~/" that begins a path or a value.
func (e *Environment) expand(home string) {
	if home == "" {
		return
	}
	for i, path := range e.Read {
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			e.Read[i] = filepath.Join(home, rest)
		}
	}
	for i, variable := range e.Variables {
		name, value, _ := strings.Cut(variable, "=")
		if rest, ok := strings.CutPrefix(value, "~/"); ok {
			e.Variables[i] = name + "=" + filepath.Join(home, rest)
		}
	}
}

// capabilities are the words of environment.capabilities: what Docker gives by itself, and nothing
// that reaches out of a container.
var capabilities = []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "NET_RAW", "SETFCAP",
	"SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"}

func (c *Config) validate() error {
	problems := []error{
		oneOf("approve", c.Approve, ApproveManual, ApproveAuto),
		oneOf("environment.driver", c.Environment.Driver, DriverClone, DriverContainer),
		oneOf("environment.sandbox", c.Environment.Sandbox, SandboxBubblewrap, SandboxNone),
		oneOf("environment.network", c.Environment.Network, NetworkRegistries, NetworkNone, NetworkFull),
		oneOf("environment.on_failure", c.Environment.OnFailure, OnFailureContinue, OnFailureStop),
	}
	if e := c.Environment; e.Processes < 0 || !(e.CPUs >= 0 && e.CPUs <= 4096) {
		problems = append(problems, errors.New("environment.processes and environment.cpus: want positive numbers, or 0 for no limit"))
	}
	for _, name := range c.Environment.Capabilities {
		problems = append(problems, oneOf("environment.capabilities", name, capabilities...))
	}
	if c.MaxParallel < 1 || c.MaxParallel > 256 {
		problems = append(problems, fmt.Errorf("max_parallel is %d: want 1 to 256", c.MaxParallel))
	}
	if len(c.Workflow) == 0 {
		problems = append(problems, errors.New("workflow is empty: want full, simple or a list of phases"))
	}
	problems = append(problems, c.validateAgents()...)
	if l := c.Limits; l.Tokens < 0 || l.Calls < 0 || !(l.CostUSD >= 0) || l.PerDay.Tokens < 0 || l.PerDay.Calls < 0 || !(l.PerDay.CostUSD >= 0) {
		problems = append(problems, errors.New("limits.tokens, cost_usd and calls: want positive numbers, or 0 for no limit"))
	}
	return errors.Join(problems...)
}

func oneOf(key, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s is %q: want %s", key, value, strings.Join(allowed, " or "))
}
