package cli_test

import (
	"strings"
	"testing"
)

// Each of these configurations keeps a run from beginning, or from its tests.
func TestDoctorNamesWhatIsWrongInAConfiguration(t *testing.T) {
	t.Parallel()
	p := newProject(t, 1)
	p.write("agent.sh", "true\n")
	agents := "agents: {shell: {driver: command, command: [sh, agent.sh]}}\n"
	right := "tests: \"true\"\n" + agents
	p.write(".signalbox/config.yaml", right)
	p.run(0, "doctor")
	for name, c := range map[string]struct{ config, says string }{
		"a workflow that is none":          {right + "workflow: quick\n", `"quick"`},
		"a phase that is none":             {right + "workflow: [design-check, deploy]\n", `"deploy"`},
		"a test program that is not there": {"tests: no-such-program --all\n" + agents, "no-such-program"},
		"a test script that is not there":  {"tests: ./no-such-script.sh\n" + agents, "./no-such-script.sh"},
		"one of several test programs":     {"tests: [\"true\", \"CI=1 nowhere-to-be-found\"]\n" + agents, "nowhere-to-be-found"},
		"no YAML":                          {"tests: [a\n", "config.yaml"},
		"an unknown key":                   {right + "testz: a\n", "testz"},
		"a key twice":                      {right + "tests: \"false\"\n", "tests"},
		"approve":                          {right + "approve: maybe\n", "maybe"},
		"max_parallel":                     {right + "max_parallel: -1\n", "max_parallel"},
		"a base branch that is not there":  {right + "base: nowhere\n", "nowhere"},
		"a base branch that can't be one":  {right + "base: two words\n", "two words"},
		"a variable's name":                {right + "environment: {variables: [export A=b]}\n", "environment.variables[1]"},
		"a workflow's name":                {right + "workflows: {simpel: {roles: {implementer: shell}}}\n", "workflows.simpel"},
		"a notification's program":         {right + "notify: {command: [./no-such-bell.sh]}\n", "no-such-bell.sh"},
		"a notification's variable":        {right + "notify: {webhook: $SIGNALBOX_TEST_UNSET_HOOK}\n", "$SIGNALBOX_TEST_UNSET_HOOK"},
		"an environment's driver":          {right + "environment: {driver: vm}\n", "vm"},
		"a sandbox":                        {right + "environment: {sandbox: chroot}\n", "chroot"},
		"a network":                        {right + "environment: {network: some}\n", "some"},
		"a host":                           {right + "environment: {allow: [\"http://a b\"]}\n", "allow"},
		"memory":                           {right + "environment: {memory: lots}\n", "lots"},
		"processes":                        {right + "environment: {processes: -5}\n", "-5"},
		"on_failure":                       {right + "environment: {on_failure: cry}\n", "cry"},
		"an empty set-up command":          {right + "environment: {set_up: [\"\"]}\n", "empty"},
		"no agent":                         {"tests: \"true\"\n", "no agent is configured"},
		"an agent's driver":                {"tests: \"true\"\nagents: {a: {driver: nobody}}\n", "nobody"},
		"an agent without a command":       {"tests: \"true\"\nagents: {a: {driver: command}}\n", "command"},
		"an agent's program":               {"tests: \"true\"\nagents: {a: {driver: command, command: [no-such-agent]}}\n", "no-such-agent"},
		"a role's agent":                   {right + "roles: {reviewer: nobody}\n", "nobody"},
		"a role":                           {right + "roles: {painter: shell}\n", "painter"},
		"a limit":                          {right + "limits: {autofix: many}\n", "autofix"},
		"a time":                           {right + "limits: {test_total: soon}\n", "test_total"},
		"a health check's kind":            {right + "health: {checks: [{id: a, kind: guess}]}\n", "guess"},
	} {
		p.write(".signalbox/config.yaml", c.config)
		doctor := p.start("doctor")
		code := doctor.wait()
		out := doctor.out.String()
		named := false
		for line := range strings.Lines(out) {
			named = named || strings.Contains(line, c.says)
		}
		if !named || code == 0 {
			t.Errorf("%s: exit code %d, want %q in\n%s", name, code, c.says, out)
		}
	}
	if json := p.run(1, "doctor", "--json"); !strings.Contains(json, `"missing"`) {
		t.Errorf("no verdict is missing in\n%s", json)
	}
}
