package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func parsed(t *testing.T, text string) Config {
	t.Helper()
	c, err := Parse(Name, []byte(text), func(name string) string { return map[string]string{"HOME": "/home/ada"}[name] })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// lines are settings as "key: value".
func lines(found []Reach) (lines []string) {
	for _, r := range found {
		lines = append(lines, r.Key+": "+r.Value)
	}
	return lines
}

func TestSettingsThatReachTheMachineAreListed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text  string
		unsandboxed bool
		want        []string
	}{
		{name: "nothing", text: ""},
		{name: "what only chooses and restricts", text: "base: next\nworkflow: simple\nmax_parallel: 3\nsecrets: [X]\nlimits: {tokens: 5, per_day: {calls: 1}}\n" +
			"environment: {network: none, memory: 1G, warm: off, name: go, driver: clone, sandbox: bubblewrap}\napprove: manual\n"},
		{name: "commands inside the sandbox", text: "tests: [make]\ntests_e2e: [e]\nstress: x\nenvironment: {set_up: [a], verify: [{command: v}]}\nhealth: {checks: [{id: c, kind: command, command: y}]}\n"},
		{name: "commands where the user leaves the sandbox out", unsandboxed: true,
			text: "tests: [make, \"make more\"]\ntests_e2e: e\nstress: x\nenvironment: {set_up: [a], verify: [{command: v}]}\nhealth: {checks: [{id: c, kind: command, command: y}]}\n",
			want: []string{"environment.set_up: a", "environment.verify[1].command: v", "health.checks[1].command: y", "stress: x", "tests: make", "tests: make more", "tests_e2e: e"}},
		{name: "commands where the file leaves the sandbox out", text: "tests: make\nenvironment: {sandbox: none}\n",
			want: []string{"environment.sandbox: none", "tests: make"}},
		{name: "no sandbox beside containers", text: "tests: make\nenvironment: {driver: container, sandbox: none, image: evil}\n",
			want: []string{"environment.driver: container", "environment.image: evil", "environment.sandbox: none"}},
		{name: "a forge", text: "forge: {driver: github, url: \"https://evil.example\", repository: a/b, token: MY_TOKEN, merge: guarded, ci: none}\n",
			want: []string{"forge.ci: none", "forge.driver: github", "forge.repository: a/b", "forge.token: MY_TOKEN", "forge.url: https://evil.example"}},
		{name: "a forge's App", text: "forge: {driver: github, app: {id: x, installation: 7, key: ~/key.pem}}\n",
			want: []string{"forge.app.key: /home/ada/key.pem", "forge.driver: github"}},
		{name: "requests in files", text: "forge: {driver: local}\n"},
		{name: "merging unasked", text: "approve: auto\n", want: []string{"approve: auto"}},
		{name: "a vendor's agent", text: "agents: {it: {driver: claude, model: m, permissions: everything, prices: {m: {input: 1}}}}\n",
			want: []string{"agents.it.driver: claude"}},
		{name: "a vendor's agent in every way", text: "agents: {it: {driver: claude, program: ./evil, args: [-x, y], env: [A=b, C=d], login: own, key: MY_TOKEN,\n" +
			"  url: \"https://evil.example\", project_settings: true, permissions: ask, allow: [Read, Edit], deny: [Bash]}}\n",
			want: []string{"agents.it.allow: Edit", "agents.it.allow: Read", `agents.it.args: ["-x","y"]`, "agents.it.driver: claude", "agents.it.env: A=b", "agents.it.env: C=d",
				"agents.it.key: MY_TOKEN", "agents.it.login: own", "agents.it.program: ./evil", "agents.it.project_settings: true", "agents.it.url: https://evil.example"}},
		{name: "any other program", text: "agents: {it: {driver: command, command: [sh, -c, \"cat /etc/shadow\"], prompt: stdin}}\n",
			want: []string{`agents.it.command: ["sh","-c","cat /etc/shadow"]`}},
		{name: "everything without a sandbox", unsandboxed: true, text: "agents: {it: {driver: codex, permissions: everything}}\n",
			want: []string{"agents.it.driver: codex", "agents.it.permissions: everything"}},
		{name: "roles", text: "agents: {it: {driver: claude, permissions: ask}}\nroles: {planner: {agent: it, args: [-x], allow: [Read], model: m}}\n" +
			"workflows: {simple: {roles: {reviewer: {agent: it, args: [-y]}}}}\n",
			want: []string{"agents.it.driver: claude", "roles.planner.allow: Read", `roles.planner.args: ["-x"]`, `workflows.simple.roles.reviewer.args: ["-y"]`}},
		{name: "paths, variables and hosts", text: "environment: {read: [~/.ssh], variables: [MY_TOKEN, \"X=~/y\"], network: full, allow: [evil.example]}\n",
			want: []string{"environment.allow: evil.example", "environment.network: full", "environment.read: /home/ada/.ssh", "environment.variables: MY_TOKEN", "environment.variables: X=/home/ada/y"}},
		{name: "containers", text: "environment: {driver: container, images: {go: evil}, dockerfile: D, capabilities: [CHOWN]}\n",
			want: []string{"environment.capabilities: CHOWN", "environment.dockerfile: D", "environment.driver: container", "environment.images.go: evil"}},
		{name: "health checks", text: "tests: make\nhealth: {checks: [{id: a, kind: http, url: \"http://169.254.169.254/x\", method: POST, body: b, rerun: r},\n" +
			"  {id: b, kind: http, start: ./serve, url: \"http://127.0.0.1:{port}/\"}, {id: c, kind: log, file: /var/log/x, pattern: p, rerun: r}]}\n",
			want: []string{"health.checks[1].body: b", "health.checks[1].method: POST", "health.checks[1].url: http://169.254.169.254/x", "health.checks[3].file: /var/log/x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			settings := parsed(t, c.text)
			found := settings.Reaches(c.unsandboxed)
			if got := lines(found); !slices.Equal(got, c.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
			bare := settings.WithoutReach(c.unsandboxed)
			left := slices.DeleteFunc(lines(bare.Reaches(c.unsandboxed)), func(line string) bool { return line == "environment.driver: container" })
			if len(left) > 0 {
				t.Errorf("left without agreement: %v", left)
			}
			if again := settings.Reaches(c.unsandboxed); !reflect.DeepEqual(again, found) {
				t.Errorf("the settings themselves changed: %v", lines(again))
			}
		})
	}
}

func TestASettingThatReachesNothingStaysWithoutAgreement(t *testing.T) {
	t.Parallel()
	c := parsed(t, "tests: [make]\nworkflow: simple\nenvironment: {network: none, read: [/etc], memory: 1G}\nagents: {it: {driver: claude}}\n")
	bare := c.WithoutReach(false)
	if !slices.Equal(bare.Tests, []string{"make"}) || bare.Environment.Network != NetworkNone || bare.Environment.Memory != 1<<30 || !slices.Equal(bare.Workflow, []string{"simple"}) {
		t.Errorf("%+v", bare)
	}
	if bare.Environment.Read != nil || bare.Agents != nil {
		t.Errorf("%+v", bare)
	}
}

// A name cannot pass for another setting's.
func TestTwoDifferentSettingsNeverHaveTheSameKeyAndValue(t *testing.T) {
	t.Parallel()
	a := parsed(t, "agents: {\"x.env\": {driver: claude, env: [A=b]}}\n")
	if got := lines(a.Reaches(false)); !slices.Contains(got, `agents."x.env".env: A=b`) {
		t.Errorf("%q", got)
	}
}

// Each setting has either words for the person who decides about it, or a place among the harmless ones.
func TestEachSettingIsKnownToReachTheMachineOrNot(t *testing.T) {
	t.Parallel()
	var full Config
	fill(reflect.ValueOf(&full).Elem())
	seen := map[string]bool{}
	walk(reflect.ValueOf(&full).Elem(), reflect.Value{}, "", "", func(l leaf) {
		seen[l.pattern] = true
		rule, known := reachRules()[l.pattern]
		if !known || rule.why == "" && rule.when == nil {
			t.Errorf("setting %s has no rule in reachRules: say why it reaches the machine, or that it is harmless", l.pattern)
		}
	})
	for pattern := range reachRules() {
		if !seen[pattern] {
			t.Errorf("rule %s is of no setting", pattern)
		}
	}
}

// fill gives every field a value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("x").Convert(v.Type().Key()), value)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1)
	default:
		v.SetInt(int64(time.Second))
	}
}
