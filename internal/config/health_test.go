package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAWrongHealthCheckIsRefusedWithLineAndKey(t *testing.T) {
	t.Parallel()
	loads(t, []loading{
		{"every kind as it should be", `tests: [make]
health:
  every: 5m
  checks:
    - {id: lint, kind: command, command: make lint, severity: minor, time_limit: 2m, interval: 1h, confirm: false}
    - {id: api, kind: http, start: ./serve, url: "http://127.0.0.1:{port}/health", status: 204, contains: ok, recipe: "See docs/api.md"}
    - {id: live, kind: http, url: https://example.org/, rerun: make smoke}
    - {id: errors, kind: log, file: /var/log/app.log, pattern: "ERROR|panic", rerun: make smoke}
    - {id: tests, kind: branch-tests}
    - {id: ci, kind: forge-ci, severity: blocker}
`, ""},
		{"no id", "health: {checks: [{kind: command, command: x}]}\n", `line 1: health.checks[1].id is "": want small letters, digits and hyphens, at most 40`},
		{"an id that could be a path", "health: {checks: [{id: ../x, kind: command, command: x}]}\n", `line 1: health.checks[1].id is "../x": want small letters, digits and hyphens, at most 40`},
		{"two of one id", "health:\n  checks:\n    - {id: a, kind: command, command: x}\n    - {id: a, kind: command, command: y}\n", `line 4: health.checks[2].id is "a", as that of health.checks[1]`},
		{"no kind", "health: {checks: [{id: a}]}\n", `line 1: health.checks[1].kind is "": want command or http or log or branch-tests or forge-ci`},
		{"an unknown key", "health: {checks: [{id: a, cmd: x}]}\n", `line 1: there is no key "cmd" in health.checks[1]`},
		{"a key of another kind", "health: {checks: [{id: a, kind: command, command: x, url: http://x/}]}\n", `line 1: health.checks[1].url: a check of kind command has none`},
		{"no command", "health: {checks: [{id: a, kind: command}]}\n", `line 1: health.checks[1].command is empty: want a line for sh`},
		{"an unknown severity", "health: {checks: [{id: a, kind: command, command: x, severity: high}]}\n", `line 1: health.checks[1].severity is "high": want blocker or major or minor`},
		{"a word for confirm", "health: {checks: [{id: a, kind: command, command: x, confirm: often}]}\n", `line 1: health.checks[1].confirm is "often": want true or false`},
		{"a time below zero", "health: {every: -5m}\n", `line 1: health.every is -5m0s: want a time above zero, or 0 for the default`},
		{"no address", "health: {checks: [{id: a, kind: http, start: x, url: localhost}]}\n", `line 1: health.checks[1].url is "localhost": want http://… or https://…`},
		{"a service that is started elsewhere", "health: {checks: [{id: a, kind: http, start: x, url: http://example.org/}]}\n", `line 1: health.checks[1].url is "http://example.org/": want 127.0.0.1, where start runs the service`},
		{"a port without start", "health: {checks: [{id: a, kind: http, rerun: x, url: 'http://127.0.0.1:{port}/'}]}\n", `line 1: health.checks[1].url names {port}: want start, which runs the service there`},
		{"a live service alone", "health: {checks: [{id: a, kind: http, url: http://example.org/}]}\n", `line 1: health.checks[1].rerun is empty: want start or rerun; without one, this check can't test a change before it is merged`},
		{"an answer of no kind", "health: {checks: [{id: a, kind: http, start: x, url: 'http://127.0.0.1/', status: 99}]}\n", `line 1: health.checks[1].status is 99: want 100 to 599`},
		{"a log outside", "health: {checks: [{id: a, kind: log, file: ../x, pattern: x, rerun: x}]}\n", `line 1: health.checks[1].file is "../x": want a path below the project root, or an absolute one`},
		{"a pattern that is none", "health: {checks: [{id: a, kind: log, file: x, pattern: '(', rerun: x}]}\n", "line 1: health.checks[1].pattern is not a regular expression: missing closing ): `(`"},
		{"a log alone", "health: {checks: [{id: a, kind: log, file: x, pattern: x}]}\n", `line 1: health.checks[1].rerun is empty: want a line for sh: a log says nothing about a change before it is merged`},
		{"tests of a project that has none", "health: {checks: [{id: a, kind: branch-tests}]}\n", `line 1: health.checks[1].kind is branch-tests, which needs tests, and there are none`},
	})
}

func TestAHealthCheckIsReadWithAllItSays(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("health:\n  every: 5m\n  checks:\n    - {id: a, kind: command, command: x, confirm: false, time_limit: 10s}\n    - {id: b, kind: command, command: x}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := Load(path, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	a, b := c.Health.Checks[0], c.Health.Checks[1]
	if c.Health.Every != 5*time.Minute || a.Confirm == nil || *a.Confirm || a.TimeLimit != 10*time.Second || b.Confirm != nil {
		t.Errorf("%+v", c.Health)
	}
}

// The word has a capital letter if it is copied from a request or from state.json.
func TestASeverityIsReadAsDocumentsWriteIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("health: {checks: [{id: a, kind: command, command: x, severity: Blocker}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, _, err := Load(path, func(string) string { return "" })
	if err != nil || all.Health.Checks[0].Severity != SeverityBlocker {
		t.Errorf("%+v, %v", all.Health, err)
	}
}
