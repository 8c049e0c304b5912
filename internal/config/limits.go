package config

import (
	"fmt"
	"net/url"
	"os"
	"reflect"
	"strings"
	"time"
	"unicode"
)

// capabilities are the values of environment.capabilities: Docker's defaults, and none that reaches out of a container.
var capabilities = []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "NET_RAW", "SETFCAP",
	"SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"}

// The smallest limits for commands: below them the sandbox does not start, or Docker and the kernel reject the number.
const (
	leastMemory    = 16 << 20
	leastCPUs      = 0.01
	leastProcesses = 8
)

func (e *Environment) validate() (problems []error) {
	if e.Memory != 0 && e.Memory < leastMemory {
		problems = append(problems, wrong("environment.memory", " is %d bytes: want at least 16M, or 0 for no limit", e.Memory))
	}
	if e.CPUs != 0 && !(e.CPUs >= leastCPUs && e.CPUs <= 4096) {
		problems = append(problems, wrong("environment.cpus", " is %v: want %v to 4096, or 0 for no limit", e.CPUs, leastCPUs))
	}
	if e.Processes != 0 && e.Processes < leastProcesses {
		problems = append(problems, wrong("environment.processes", " is %d: want at least %d, or 0 for no limit", e.Processes, leastProcesses))
	}
	for key, given := range map[string]bool{"image": e.Image != "", "images": len(e.Images) > 0, "dockerfile": e.Dockerfile != ""} {
		if given && e.Driver == DriverClone {
			problems = append(problems, wrong("environment."+key, " is for containers: want environment.driver: container with it"))
		}
	}
	for i, name := range e.Capabilities {
		problems = append(problems, oneOf(fmt.Sprintf("environment.capabilities[%d]", i+1), name, capabilities...))
	}
	for i, v := range e.Verify {
		if strings.TrimSpace(v.Command) == "" {
			problems = append(problems, wrong(fmt.Sprintf("environment.verify[%d].command", i+1), " is empty: want a line for sh"))
		}
	}
	for i, variable := range e.Variables {
		name, _, _ := strings.Cut(variable, "=")
		if name == "" || strings.ContainsFunc(name, unicode.IsSpace) {
			problems = append(problems, wrong(fmt.Sprintf("environment.variables[%d]", i+1), " names %q, which can't be a variable: want NAME or NAME=value", shown(name)))
		}
	}
	return problems
}

// positive rejects negative budgets.
func positive(key string, limits reflect.Value) (problems []error) {
	for field, value := range limits.Fields() {
		name := key + "." + field.Tag.Get("yaml")
		switch {
		case value.Kind() == reflect.Struct:
			problems = append(problems, positive(name, value)...)
		case value.CanInt() && value.Int() < 0, value.CanFloat() && !(value.Float() >= 0):
			is := value.Interface()
			if d, ok := is.(time.Duration); ok {
				is = d.String()
			}
			problems = append(problems, wrong(name, " is %v: want a positive number, or 0 for the default", is))
		}
	}
	return problems
}

// Notify says how a person who isn't watching learns that a run needs them or has ended. Addresses are http or https, or $NAME: the value of that
// environment variable, for addresses that are secret.
type Notify struct {
	// Desktop shows a notification with notify-send.
	Desktop bool `yaml:"desktop"`
	// Command is a program with its arguments; it gets the news as JSON on standard input.
	Command []string `yaml:"command"`
	// Webhook gets the news posted as JSON.
	Webhook string `yaml:"webhook"`
	// Slack and Discord are the addresses of incoming webhooks there.
	Slack   string `yaml:"slack"`
	Discord string `yaml:"discord"`
	// Ntfy is the address of a topic: https://ntfy.sh/my-topic.
	Ntfy string `yaml:"ntfy"`
}

// Address returns the address that a value of Notify means; empty if its variable is empty.
func Address(value string) string {
	if name, ok := strings.CutPrefix(value, "$"); ok {
		return os.Getenv(name)
	}
	return value
}

func (n *Notify) validate() (problems []error) {
	for key, value := range map[string]string{"notify.webhook": n.Webhook, "notify.slack": n.Slack, "notify.discord": n.Discord, "notify.ntfy": n.Ntfy} {
		if value == "" || strings.HasPrefix(value, "$") && len(value) > 1 {
			continue
		}
		if u, err := url.Parse(value); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			problems = append(problems, wrong(key, " is not an http or https address: want https://…, or $NAME of a variable that holds it"))
		}
	}
	return problems
}
