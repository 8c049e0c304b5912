package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"signalbox/internal/lazy"
)

// Health says what "signalbox heal" checks in the project, and how often.
type Health struct {
	// Every is the time between two passes over a healthy project, from beginning to beginning.
	Every time.Duration `yaml:"every"`
	// Checks run in parallel.
	Checks []Check `yaml:"checks"`
}

// Check is one question about the project's health.
type Check struct {
	// ID names it in errors and requests; small letters, digits and hyphens.
	ID string `yaml:"id"`
	// Kind is command, http, log, branch-tests or forge-ci.
	Kind string `yaml:"kind"`
	// Severity is blocker, major or minor. Errors are repaired in that order.
	Severity string `yaml:"severity"`
	// Command is a line for sh that runs in the environment and succeeds if all is well (command).
	Command string `yaml:"command"`
	// URL, Method and Body are a request; Status and Contains describe the expected answer (http).
	URL      string `yaml:"url"`
	Method   string `yaml:"method"`
	Body     string `yaml:"body"`
	Status   int    `yaml:"status"`
	Contains string `yaml:"contains"`
	// Start is a line for sh that starts the service in the environment. It gets a free TCP port as PORT, which URL may contain as {port}. Without
	// Start, the service is already running (http).
	Start string `yaml:"start"`
	// File is a log on this machine; Pattern is a regular expression for its error lines (log).
	File    string `yaml:"file"`
	Pattern string `yaml:"pattern"`
	// Rerun is a line for sh that shows on a changed tree whether the check would pass, for checks that can't run there: of logs, and of services
	// that run elsewhere.
	Rerun string `yaml:"rerun"`
	// Recipe tells the agent what is known about such errors.
	Recipe string `yaml:"recipe"`
	// TimeLimit ends a check; a check that takes longer fails.
	TimeLimit time.Duration `yaml:"time_limit"`
	// Confirm repeats a failed check before it counts; the default is true.
	Confirm *bool `yaml:"confirm"`
	// Interval is how long a check that passed is not run again; 0 runs it in every pass.
	Interval time.Duration `yaml:"interval"`
}

// The values of health checks.
const (
	CheckCommand     = "command"
	CheckHTTP        = "http"
	CheckLog         = "log"
	CheckBranchTests = "branch-tests"
	CheckForgeCI     = "forge-ci"

	SeverityBlocker = "blocker"
	SeverityMajor   = "major"
	SeverityMinor   = "minor"
)

// checkKeys are the keys that only some kinds of checks have.
var checkKeys = []struct {
	key   string
	of    []string
	value func(*Check) string
}{
	{"command", []string{CheckCommand}, func(c *Check) string { return c.Command }},
	{"url", []string{CheckHTTP}, func(c *Check) string { return c.URL }},
	{"method", []string{CheckHTTP}, func(c *Check) string { return c.Method }},
	{"body", []string{CheckHTTP}, func(c *Check) string { return c.Body }},
	{"contains", []string{CheckHTTP}, func(c *Check) string { return c.Contains }},
	{"start", []string{CheckHTTP}, func(c *Check) string { return c.Start }},
	{"file", []string{CheckLog}, func(c *Check) string { return c.File }},
	{"pattern", []string{CheckLog}, func(c *Check) string { return c.Pattern }},
	{"rerun", []string{CheckHTTP, CheckLog}, func(c *Check) string { return c.Rerun }},
}

var checkID = lazy.Pattern(`^[a-z][a-z0-9-]{0,39}$`)

func (c *Config) validateHealth() (problems []error) {
	seen := map[string]int{}
	if c.Health.Every < 0 {
		problems = append(problems, wrong("health.every", " is %s: want a time above zero, or 0 for the default", c.Health.Every))
	}
	for i := range c.Health.Checks {
		check, key := &c.Health.Checks[i], fmt.Sprintf("health.checks[%d]", i+1)
		switch at, twice := seen[check.ID]; {
		case !checkID().MatchString(check.ID):
			problems = append(problems, wrong(key+".id", " is %q: want small letters, digits and hyphens, at most 40", shown(check.ID)))
		case twice:
			problems = append(problems, wrong(key+".id", " is %q, as that of health.checks[%d]", check.ID, at))
		default:
			seen[check.ID] = i + 1
		}
		problems = append(problems, check.validate(key)...)
		if len(c.Tests) == 0 && (check.Kind == CheckBranchTests || check.Kind == CheckForgeCI) {
			problems = append(problems, wrong(key+".kind", " is %s, which needs tests, and there are none", check.Kind))
		}
	}
	return problems
}

func (c *Check) validate(key string) []error {
	if err := oneOf(key+".kind", c.Kind, CheckCommand, CheckHTTP, CheckLog, CheckBranchTests, CheckForgeCI); err != nil {
		return []error{err}
	}
	var problems []error
	for _, k := range checkKeys {
		if k.value(c) != "" && !slices.Contains(k.of, c.Kind) {
			problems = append(problems, wrong(key+"."+k.key, ": a check of kind %s has none", c.Kind))
		}
	}
	if c.Severity = strings.ToLower(c.Severity); c.Severity != "" { // documents and requests write Major
		problems = append(problems, oneOf(key+".severity", c.Severity, SeverityBlocker, SeverityMajor, SeverityMinor))
	}
	for name, d := range map[string]time.Duration{"time_limit": c.TimeLimit, "interval": c.Interval} {
		if d < 0 {
			problems = append(problems, wrong(key+"."+name, " is %s: want a time above zero, or 0 for the default", d))
		}
	}
	switch c.Kind {
	case CheckCommand:
		problems = append(problems, required(key+".command", c.Command, "a line for sh"))
	case CheckHTTP:
		problems = append(problems, c.validateHTTP(key)...)
	case CheckLog:
		problems = append(problems, c.validateLog(key)...)
	}
	return problems
}

func required(key, value, what string) error {
	if strings.TrimSpace(value) == "" {
		return wrong(key, " is empty: want %s", what)
	}
	return nil
}

func (c *Check) validateHTTP(key string) (problems []error) {
	u, err := url.Parse(strings.ReplaceAll(c.URL, "{port}", "1"))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		problems = append(problems, wrong(key+".url", " is %q: want http://… or https://…", shown(c.URL)))
	case c.Start != "" && u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1" && u.Hostname() != "::1":
		problems = append(problems, wrong(key+".url", " is %q: want 127.0.0.1, where start runs the service", shown(c.URL)))
	case c.Start == "" && strings.Contains(c.URL, "{port}"):
		problems = append(problems, wrong(key+".url", " names {port}: want start, which runs the service there"))
	}
	if c.Start == "" && c.Rerun == "" {
		problems = append(problems, wrong(key+".rerun", " is empty: want start or rerun; without one, this check can't test a change before it is merged"))
	}
	if c.Status != 0 && (c.Status < 100 || c.Status > 599) {
		problems = append(problems, wrong(key+".status", " is %d: want 100 to 599", c.Status))
	}
	if c.Method != "" && strings.Trim(c.Method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		problems = append(problems, wrong(key+".method", " is %q: want GET, POST or another in capital letters", shown(c.Method)))
	}
	return problems
}

func (c *Check) validateLog(key string) []error {
	problems := []error{
		required(key+".file", c.File, "the path of a log"),
		required(key+".rerun", c.Rerun, "a line for sh: a log says nothing about a change before it is merged"),
		required(key+".pattern", c.Pattern, "a regular expression for the lines that are errors"),
	}
	if c.File != "" && !filepath.IsAbs(c.File) && !filepath.IsLocal(c.File) {
		problems = append(problems, wrong(key+".file", " is %q: want a path below the project root, or an absolute one", shown(c.File)))
	}
	if _, err := regexp.Compile(c.Pattern); err != nil {
		problems = append(problems, wrong(key+".pattern", " is not a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: ")))
	}
	return problems
}
