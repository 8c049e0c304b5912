package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// loading is a file and what is said of it, nothing where all is well.
type loading struct{ name, text, want string }

func loads(t *testing.T, all []loading) {
	t.Helper()
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := loaded(t, c.text); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// loaded is what Load says of a file, without the file's name.
func loaded(t *testing.T, text string, variables ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, found, err := Load(path, func(name string) string {
		for _, v := range variables {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	})
	if !found {
		t.Errorf("%q was not found", text)
	}
	if err == nil {
		return ""
	}
	return strings.TrimPrefix(err.Error(), "configuration "+path+": ")
}

func TestAWrongFileIsRefusedWithLineAndKeyInWords(t *testing.T) {
	t.Parallel()
	loads(t, []loading{
		{"nothing", "", ""},
		{"comments alone", "# later\n", ""},
		{"keys without values", "tests:\nagents:\nenvironment:\n  memory:\n", ""},
		{"a number where text is wanted", "environment: {verify: [{command: echo 1, expect: 1}]}\n", ""},
		{"anchors", "tests: &t [make]\nenvironment: {set_up: *t}\n", ""},
		{"an unknown key", "base: main\naprove: auto\n", `line 2: there is no key "aprove": did you mean "approve"?`},
		{"one further down", "environment:\n  net_work: none\n", `line 2: there is no key "net_work" in environment: did you mean "network"?`},
		{"one in a list", "environment:\n  verify:\n    - {comand: x}\n", `line 3: there is no key "comand" in environment.verify[1]: did you mean "command"?`},
		{"a key that is there twice", "base: main\nbase: next\n", "line 2: base is already set in line 1"},
		{"a list where keys are wanted", "environment: [x]\n", "line 1: environment is a list: want keys with values"},
		{"keys where a list is wanted", "environment: {allow: {a: b}}\n", "line 1: environment.allow is keys with values: want a list"},
		{"a word where a list is wanted", "environment: {allow: example.org}\n", `line 1: environment.allow is "example.org": want a list`},
		{"a list where text is wanted", "base: [main]\n", "line 1: base is a list: want text"},
		{"a word where a number is wanted", "limits:\n  autofix: often\n", `line 2: limits.autofix is "often": want a whole number`},
		{"a number without its unit", "limits: {agent_idle: 10}\n", `line 1: limits.agent_idle is "10": want a time such as 90s, 10m or 2h`},
		{"a file that is a list", "- a\n", "line 1: the file is a list: want keys with values"},
		{"a file that is a word", "auto\n", `line 1: the file is "auto": want keys with values`},
		{"a tab", "environment:\n\tnetwork: none\n", "line 2: begins with a tab: want spaces"},
		{"a quote that is not closed", "tests: \"true\n", "line 2: found unexpected end of stream (not YAML: look for a wrong quote, bracket or indentation)"},
		{"no text", "\xff\xfe\n", "is not UTF-8 text"},
		{"a size that is none", "environment:\n  memory: lots\n", `line 2: environment.memory: "lots" is not a size: want a number, optionally followed by K, M, G or T`},
		{"keys where lines are wanted", "tests: {a: b}\n", "line 1: tests: want a line or a list of lines"},
		{"an empty line among the tests", "tests:\n  - make\n  - ''\n", "line 3: tests: number 2 is empty"},
		{"a verification without a command", "environment:\n  verify:\n    - expect: OK\n", "line 3: environment.verify[1].command is empty: want a line for sh"},
		{"an unknown word", "base: main\napprove: maybe\n", `line 2: approve is "maybe": want manual or auto or forge`},
		{"a role of an unknown agent", "roles: {planner: ghost}\n", `line 1: roles.planner names "ghost", which is not an agent in this file`},
		{"an agent without a program", "agents:\n  a:\n    driver: command\n", "line 2: agents.a.command is empty: want a program and its arguments"},
		{"a server of no address", "agents:\n  a: {driver: claude, url: foo}\n", `line 2: agents.a.url is "foo": want http://… or https://…`},
		{"an image without containers", "environment: {image: 'node:22'}\n", "line 1: environment.image is for containers: want environment.driver: container with it"},
		{"too little memory", "environment: {memory: 1K}\n", "line 1: environment.memory is 1024 bytes: want at least 16M, or 0 for no limit"},
		{"too little time", "environment: {cpus: 0.0001}\n", "line 1: environment.cpus is 0.0001: want 0.01 to 4096, or 0 for no limit"},
		{"no time at all", "environment: {cpus: .nan}\n", "line 1: environment.cpus is NaN: want 0.01 to 4096, or 0 for no limit"},
		{"processes below none", "environment: {processes: -5}\n", "line 1: environment.processes is -5: want at least 8, or 0 for no limit"},
		{"a limit below none", "limits:\n  per_day: {calls: -1}\n", "line 2: limits.per_day.calls is -1: want a positive number, or 0 for the default"},
		{"a time below none", "limits: {test_total: -10m}\n", "line 1: limits.test_total is -10m0s: want a positive number, or 0 for the default"},
		{"several, in the order of the file", "approve: maybe\nmax_parallel: 0\nenvironment: {driver: x}\n",
			"line 1: approve is \"maybe\": want manual or auto or forge\nline 2: max_parallel is 0: want 1 to 256\nline 3: environment.driver is \"x\": want clone or container"},
		{"a time that is too long hides nothing else", "health:\n  every: 999999999999h\napprove: maybe\nmax_parallel: 0\nlimits: {autofix: often, calls: -1}\n",
			"line 2: health.every is \"999999999999h\": want a time that is shorter: 2562047h is the longest\nline 3: approve is \"maybe\": want manual or auto or forge\n" +
				"line 4: max_parallel is 0: want 1 to 256\nline 5: limits.autofix is \"often\": want a whole number\nline 5: limits.calls is -1: want a positive number, or 0 for the default"},
		{"an unknown key, nor", "aprove: auto\nmax_parallel: 0\n", "line 1: there is no key \"aprove\": did you mean \"approve\"?\nline 2: max_parallel is 0: want 1 to 256"},
		{"nor what it may have been meant for", "agent: {a: {driver: command, command: [sh]}}\nroles: {planner: a}\napprove: maybe\n",
			"line 1: there is no key \"agent\": did you mean \"agents\"?\nline 3: approve is \"maybe\": want manual or auto or forge"},
		{"a key that is there twice, nor", "approve: maybe\napprove: auto\n", "line 1: approve is \"maybe\": want manual or auto or forge\nline 2: approve is already set in line 1"},
		{"nothing more is said of a value that is wrong", "agents: {a: {driver: command, command: sh}}\n", "line 1: agents.a.command is \"sh\": want a list"},
		{"nor of what leads to it", "agents: [a]\nroles: {planner: a}\nworkflows: {simple: {roles: {reviewer: a}}}\n", "line 1: agents is a list: want keys with values"},
		{"nor of one of several agents", "agents: {a: sh, b: {driver: x}}\nroles: {planner: a, reviewer: c}\n", "line 1: agents.a is \"sh\": want keys with values\n" +
			"line 1: agents.b.driver is \"x\": want command or claude or codex or opencode or pi or gemini\nline 2: roles.reviewer names \"c\", which is not an agent in this file"},
		{"a verification that is a word", "environment:\n  verify: [make, {command: ''}]\n", "line 2: environment.verify[1] is \"make\": want keys with values\nline 2: environment.verify[2].command is empty: want a line for sh"},
		{"an alias of itself", "environment: {verify: &a [*a]}\n", "line 1: environment.verify[1] is a list: want keys with values"},
	})
}

func TestASmallFileWhoseAliasesMakeItHugeIsRefused(t *testing.T) {
	t.Parallel()
	var agents strings.Builder
	for i := range 500 {
		_, _ = fmt.Fprintf(&agents, "  a%d: *a\n", i)
	}
	text := "secrets: &s [" + strings.Repeat("x, ", 1000) + "]\nagents:\n  a: &a {args: *s}\n" + agents.String()
	if got, want := loaded(t, text), "its aliases expand too far"; got != want {
		t.Errorf("%.200q, want %q", got, want)
	}
}

func TestAVariablesValueIsNotBlamedOnTheFile(t *testing.T) {
	t.Parallel()
	if got, want := loaded(t, "approve: auto\n", "SIGNALBOX_APPROVE=maybe"), `SIGNALBOX_APPROVE is "maybe": want manual or auto or forge`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheNumberOfReportedProblemsIsLimited(t *testing.T) {
	t.Parallel()
	var c Config
	_, _, err := parseInto([]byte(strings.Repeat("x: 1\n", 1000)), &c)
	if err == nil || len(flat(err)) != maxProblems || errors.Unwrap(err) != nil {
		t.Errorf("%d problems", len(flat(err)))
	}
}
