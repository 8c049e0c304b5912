package config

import (
	"net/url"
	"os"
	"strings"
)

// Notify says how a person who isn't watching learns that a run needs them or has ended. Webhook and Ntfy are http or https addresses, or $NAME:
// the value of that environment variable, for addresses that are secret.
type Notify struct {
	// Desktop shows a notification with notify-send.
	Desktop bool `yaml:"desktop"`
	// Command is a program with its arguments; it gets the news as JSON on standard input.
	Command []string `yaml:"command"`
	// Webhook gets the news posted as JSON, which Slack and Discord show.
	Webhook string `yaml:"webhook"`
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
	for key, value := range map[string]string{"notify.webhook": n.Webhook, "notify.ntfy": n.Ntfy} {
		if value == "" || strings.HasPrefix(value, "$") && len(value) > 1 {
			continue
		}
		if u, err := url.Parse(value); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			problems = append(problems, wrong(key, " is no http or https address: want https://…, or $NAME of a variable that holds it"))
		}
	}
	return problems
}
