package cli_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wrongProject is one thing that is wrong in a project: its configuration, or further files.
type wrongProject struct {
	name, config string
	// files are written and committed, "+x" at the end of a name makes one executable.
	files map[string]string
	// env is what the user's variables are besides.
	env []string
	// says is part of a line of doctor that names what is wrong, next of one that says what to type.
	says, next string
	// runs: a run does not need what is wrong.
	runs bool
}

// Each of these keeps a run from beginning, or from its tests: doctor names it and does not say ok, and a run calls no agent.
func TestDoctorNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	const agents = "agents: {shell: {driver: command, command: [sh, agent.sh]}}\n"
	const right = "workflow: simple\ntests: \"true\"\n" + agents
	agent := func(settings string) string {
		return "workflow: simple\ntests: \"true\"\nagents: {shell: {driver: command, " + settings + "}}\n"
	}
	request := func(lines string) map[string]string {
		return map[string]string{"requests/1.md": "---\nid: RQ-20260101-001\nnumber: 1\ntitle: First\n" + lines + "---\n"}
	}
	for _, c := range []wrongProject{
		{name: "a workflow that is none", config: right + "workflow: quick\n", says: "workflow"},
		{name: "a phase that is none", config: "tests: \"true\"\n" + agents + "workflow: [design-check, deploy]\n", says: `"deploy"`},
		{name: "no YAML", config: "tests: [a\n", says: "config.yaml"},
		{name: "an unknown key", config: right + "testz: a\n", says: `no key "testz": did you mean "tests"?`},
		{name: "a key twice", config: right + "tests: \"false\"\n", says: "tests"},
		{name: "approve", config: right + "approve: maybe\n", says: "maybe"},
		{name: "max_parallel", config: right + "max_parallel: -1\n", says: "max_parallel"},
		{name: "a base branch that is not there", config: right + "base: nowhere\n", says: "nowhere"},
		{name: "a remote's branch as base", config: right + "base: origin/main\n", says: `no branch "origin/main"`, next: "name the branch here, not the remote's: main"},
		{name: "a commit as base", config: right + "base: 0a1b2c3d\n", says: `no branch "0a1b2c3d"`, next: "this is a tag or a commit: make a branch of it (git branch release 0a1b2c3d)"},
		{name: "a base branch that can't be one", config: right + "base: two words\n", says: "two words"},
		{name: "a variable's name", config: right + "environment: {variables: [export A=b]}\n", says: "environment.variables[1]"},
		{name: "a workflow's name", config: right + "workflows: {simpel: {roles: {implementer: shell}}}\n", says: "workflows.simpel"},
		{name: "a notification's program", config: right + "notify: {command: [./no-such-bell.sh]}\n", says: "no-such-bell.sh", runs: true},
		{name: "a notification's variable", config: right + "notify: {webhook: $SIGNALBOX_TEST_UNSET_HOOK}\n", says: "$SIGNALBOX_TEST_UNSET_HOOK", runs: true},
		{name: "an environment's driver", config: right + "environment: {driver: vm}\n", says: "vm"},
		{name: "a sandbox", config: right + "environment: {sandbox: chroot}\n", says: "chroot"},
		{name: "a network", config: right + "environment: {network: some}\n", says: "some"},
		{name: "a host", config: right + "environment: {allow: [\"http://a b\"]}\n", says: "allow"},
		{name: "memory", config: right + "environment: {memory: lots}\n", says: "lots"},
		{name: "processes", config: right + "environment: {processes: -5}\n", says: "-5"},
		{name: "on_failure", config: right + "environment: {on_failure: cry}\n", says: "cry"},
		{name: "an empty set-up command", config: right + "environment: {set_up: [\"\"]}\n", says: "empty"},
		{name: "no agent", config: "tests: \"true\"\n", says: "no agent is configured"},
		{name: "an agent's driver", config: "tests: \"true\"\nagents: {a: {driver: nobody}}\n", says: "nobody"},
		{name: "an agent without a command", config: "tests: \"true\"\nagents: {a: {driver: command}}\n", says: "command"},
		{name: "a role's agent", config: right + "roles: {reviewer: nobody}\n", says: "nobody"},
		{name: "a role", config: right + "roles: {painter: shell}\n", says: "painter"},
		{name: "a limit", config: right + "limits: {autofix: many}\n", says: "autofix"},
		{name: "a time", config: right + "limits: {test_total: soon}\n", says: "test_total"},
		{name: "a health check's program", config: right + "health: {checks: [{id: a, kind: command, command: nosuch --now}]}\n", says: "\"nosuch --now\" starts nosuch, and there is no such program", next: "correct health.checks (a)", runs: true},
		{name: "a health check's script", config: right + "health: {checks: [{id: a, kind: command, command: ./nosuch.sh}]}\n", says: "starts ./nosuch.sh, which is not in the project", next: "correct health.checks (a)", runs: true},
		{name: "a health check's kind", config: right + "health: {checks: [{id: a, kind: guess}]}\n", says: "guess"},
		{name: "a path to show that is not there", config: right + "environment: {read: [/nowhere/cache]}\n", says: `"/nowhere/cache", which does not exist`, next: "mkdir -p /nowhere/cache"},
		{name: "a path to show that is not absolute", config: right + "environment: {read: [cache]}\n", says: `"cache", which is not absolute`},

		{name: "a test program that is not there", config: "workflow: simple\ntests: no-such-program --all\n" + agents, says: "no-such-program"},
		{name: "a test program by its path", config: "workflow: simple\ntests: /usr/bin/no-such-program\n" + agents, says: "/usr/bin/no-such-program"},
		{name: "one of several test programs", config: "workflow: simple\ntests: [\"true\", \"CI=1 nowhere-to-be-found\"]\n" + agents, says: "nowhere-to-be-found"},
		{name: "a test module that is not there", config: "workflow: simple\ntests: python3 -m no_such_module -q\n" + agents, says: "starts the module no_such_module, and python3 has no such module", next: "have environment.set_up install it"},
		{name: "a test script that is not there", config: "workflow: simple\ntests: ./no-such-script.sh\n" + agents, says: "./no-such-script.sh, which is not in the project"},
		{name: "a test script that is not executable", config: "workflow: simple\ntests: ./test.sh\n" + agents, files: map[string]string{"test.sh": "true\n"},
			says: "./test.sh, which isn't executable", next: "chmod +x test.sh"},
		{name: "a test that is a folder", config: "workflow: simple\ntests: [./t]\n" + agents, files: map[string]string{"t/a": "a\n"}, says: "./t, which is a folder", next: "correct tests in .signalbox/config.yaml"},
		{name: "a test that is a folder for sh", config: "workflow: simple\ntests: sh ./t\n" + agents, files: map[string]string{"t/a": "a\n"}, says: "./t, which is a folder"},
		{name: "an empty test script", config: "workflow: simple\ntests: ./test.sh\n" + agents, files: map[string]string{"test.sh+x": ""}, says: "nothing in it that could run", next: "correct test.sh, and commit that"},
		{name: "a test script of comments", config: "workflow: simple\ntests: bash -eu test.sh\n" + agents, files: map[string]string{"test.sh": "#!/bin/bash\n\n  # later\n"}, says: "nothing in it that could run"},
		{name: "a test script's interpreter", config: "workflow: simple\ntests: ./test.sh\n" + agents, files: map[string]string{"test.sh+x": "#!/usr/bin/no-such-shell\ntrue\n"},
			says: "./test.sh, whose first line names /usr/bin/no-such-shell", next: "correct the first line of test.sh"},
		{name: "a test script with CRLF", config: "workflow: simple\ntests: ./test.sh\n" + agents, files: map[string]string{"test.sh+x": "#!/bin/sh\r\ntrue\r\n"}, says: "CRLF", next: `sed -i 's/\r$//' test.sh`},
		{name: "a test script in no language", config: "workflow: simple\ntests: ./test.sh\n" + agents, files: map[string]string{"test.sh+x": "#!/bin/sh\ntrue\nif true; then\n"},
			says: "on main can't be read by sh: line ", next: "correct test.sh, and commit that"},
		{name: "a test script for sh in no language", config: "workflow: simple\ntests: sh ./test.sh\n" + agents, files: map[string]string{"test.sh": "true\n)\n"}, says: "on main can't be read by sh: line "},
		{name: "a script that is not there for sh", config: "workflow: simple\ntests: sh missing.sh\n" + agents, says: "missing.sh, which is not in the project"},
		{name: "a script that is not there for python", config: "workflow: simple\ntests: python3 missing.py\n" + agents, says: "missing.py, which is not in the project"},
		{name: "a script that is not there in a folder", config: "workflow: simple\ntests: cd sub && ./missing.sh\n" + agents, files: map[string]string{"sub/a": "a\n"}, says: "./missing.sh, which is not in the project"},
		{name: "a folder that is not there", config: "workflow: simple\ntests: A=b cd sub && make\n" + agents, says: "changes to sub, which is not in the project"},
		{name: "a test in no language", config: "workflow: simple\ntests: [\"if true\"]\n" + agents, says: `"if true" can't be read by sh: `, next: "correct tests in .signalbox/config.yaml"},
		{name: "an end-to-end test in no language", config: right + "tests_e2e: 'echo \"a'\n", says: "can't be read by sh: ", next: "correct tests_e2e in"},
		{name: "a stress test in no language", config: right + "stress: \"( true\"\n", says: "can't be read by sh: ", next: "correct stress in"},
		{name: "a set-up command in no language", config: right + "environment: {set_up: [\"true\", \"for x in\"]}\n", says: "can't be read by sh: ", next: "correct environment.set_up in"},
		{name: "a verification in no language", config: right + "environment: {verify: [{command: 'echo $(', expect: a}]}\n", says: "can't be read by sh: ", next: "correct environment.verify in"},
		{name: "a set-up program that is not there", config: right + "environment: {set_up: [no-such-installer -r a]}\n", says: "no-such-installer", next: "correct environment.set_up in"},
		{name: "a verification's program", config: right + "environment: {verify: [{command: no-such-check, expect: a}]}\n", says: "no-such-check"},
		{name: "a stress test's program", config: right + "stress: no-such-load 5\n", says: "no-such-load"},
		{name: "a stress test's script", config: right + "stress: ./load.sh\n", says: "./load.sh, which is not in the project"},

		{name: "an agent's program", config: agent("command: [no-such-agent, agent.py]"), says: "no-such-agent"},
		{name: "an agent's own script", config: agent("command: [./no-such-agent.sh]"), says: "no-such-agent.sh"},
		{name: "an agent that is not executable", config: agent("command: [./agent.sh]"), says: "agent.sh: is not an executable file", next: "chmod +x ./agent.sh"},
		{name: "an agent's script that is not there", config: agent("command: [sh, no-such-agent.sh]"), says: "no-such-agent.sh, which is not in the project"},
		{name: "an agent's script in no language", config: right, files: map[string]string{"agent.sh": "if true; then\n"}, says: "agent.sh, which on main can't be read by sh: line ", next: "correct agent.sh, and commit that"},
		{name: "an agent's empty script", config: right, files: map[string]string{"agent.sh": ""}, says: "nothing in it that could run"},
		{name: "an agent in no language", config: agent("command: [./mine]"), files: map[string]string{"mine+x": "#!/bin/sh\nif true; then\n"}, says: "cannot be started: ", next: "correct ./mine"},
		{name: "an agent of Windows", config: agent("command: [./mine]"), files: map[string]string{"mine+x": "#!/bin/sh\r\necho x >x\r\n"}, says: "cannot be started: it has the line ends of Windows", next: `sed -i 's/\r$//' ./mine`},
		{name: "an empty agent", config: agent("command: [./mine]"), files: map[string]string{"mine+x": ""}, says: "cannot be started: it is empty", next: "correct ./mine"},
		{name: "an agent's interpreter", config: agent("command: [./mine]"), files: map[string]string{"mine+x": "#!/usr/bin/env no-such-language\n"}, says: `"no-such-language" is not found`},
		{name: "an agent's interpreter by its path", config: agent("command: [./mine]"), files: map[string]string{"mine+x": "#!/nowhere/python3\n"}, says: `"/nowhere/python3" is not found`},
		{name: "a command that may not plan", config: "tests: \"true\"\n" + agents, says: `has to plan and review, and the configuration doesn't say whether "shell"`, next: "roles: {planner: none, reviewer: none, repairer: none}"},

		{name: "a request's base", config: right, files: request("base: nowhere\n"), says: `no branch "nowhere"`, next: "git branch"},
		{name: "a request's test program", config: right, files: request("tests: [no-such-test]\n"), says: "tests in requests/1.md: \"no-such-test\"", next: "correct tests in requests/1.md"},
		{name: "a request's test in no language", config: right, files: request("tests: ['if true']\n"), says: "can't be read by sh", next: "correct tests in requests/1.md"},
		{name: "a request's test script", config: right, files: map[string]string{"requests/1.md": request("tests: [./test.sh]\n")["requests/1.md"], "test.sh": "true\n"}, says: "isn't executable", next: "chmod +x test.sh"},
		{name: "a request that depends on none", config: right, files: request("depends_on: [77]\n"), says: `depends on "77", and there is no such request`, next: "fix depends_on in requests/1.md"},
		{name: "a request that depends on itself", config: right, files: request("depends_on: [1]\n"), says: "request 1 depends on itself", next: "fix depends_on in requests/1.md"},
		{name: "requests that depend on each other", config: right, files: map[string]string{"requests/1.md": request("depends_on: [2]\n")["requests/1.md"],
			"requests/2.md": "---\nid: RQ-20260101-002\ntitle: Second\ndepends_on: RQ-20260101-001\n---\n"}, says: "in a circle: #1 #2", next: "fix depends_on in requests/1.md"},
		{name: "a request's key", config: right, files: request("titel: x\n"), says: `requests/1.md: line 5: unknown key "titel"`, next: "fix the file"},
		{name: "an id twice", config: right, files: map[string]string{"requests/1.md": request("")["requests/1.md"], "requests/2.md": "---\nid: RQ-20260101-001\nnumber: 2\ntitle: Second\n---\n"},
			says: "requests/1.md: id RQ-20260101-001 is also claimed by requests/2.md", next: "an id of its own"},
		{name: "a request without front matter", config: right, files: map[string]string{"requests/1.md": "Do it.\n"}, says: "requests/1.md: line 1: the first line is not ---", next: "fix the file"},
		{name: "a request's YAML", config: right, files: request("labels: [a\n"), says: "requests/1.md: front matter: yaml: line"},

		{name: "environments.json", config: right, files: map[string]string{"environments.json": "{\"a\n"}, says: "environments.json:1:4", next: "signalbox document validate environments.json"},
		{name: "state.json", config: right, files: map[string]string{"state.json": "{\"a\n"}, says: "state.json:1:4", next: "signalbox health restore"},
		{name: "a file for the runs", config: right, files: map[string]string{"runs": "a\n"}, says: "runs: not a directory", next: "mv runs runs-old"},
		{name: "a file for the environments", config: right, files: map[string]string{".worktrees": "a\n"}, says: "not a directory", next: "mv .worktrees .worktrees-old"},
		{name: "a variable for the sandbox", config: right, env: []string{"SIGNALBOX_SANDBOX=bwrap"}, says: `SIGNALBOX_SANDBOX is "bwrap": want bubblewrap or none`, next: "unset SIGNALBOX_SANDBOX; tests, "},
		{name: "a variable for pushing", config: right, env: []string{"SIGNALBOX_PUSH=yes"}, says: `  SIGNALBOX_PUSH is "yes"`, next: "correct the variable SIGNALBOX_PUSH"},
		{name: "a variable for approvals", config: right, env: []string{"SIGNALBOX_APPROVE=maybe"}, says: `  SIGNALBOX_APPROVE is "maybe"`, next: "unset SIGNALBOX_APPROVE"},
		{name: "a variable for the queue", config: right, env: []string{"SIGNALBOX_MAX_PARALLEL=0"}, says: "  SIGNALBOX_MAX_PARALLEL is 0: want 1 to 256", next: "unset SIGNALBOX_MAX_PARALLEL"},
		{name: "a variable that is no number", config: right, env: []string{"SIGNALBOX_MAX_PARALLEL=x"}, says: `SIGNALBOX_MAX_PARALLEL is "x": want a number`, next: "unset SIGNALBOX_MAX_PARALLEL"},
		{name: "a variable and the file", config: right + "approve: maybe\n", env: []string{"SIGNALBOX_PUSH=yes"}, says: `line 4: approve is "maybe"`, next: "unset SIGNALBOX_PUSH"},
		{name: "a misspelt variable", config: right, env: []string{"SIGNALBOX_WORKFLOWS=simple"}, says: "it is nearly SIGNALBOX_WORKFLOW", next: "unset SIGNALBOX_WORKFLOWS"},
		{name: "a variable for certificates", config: right, env: []string{"SSL_CERT_FILE=/nowhere/ca.pem"}, says: "the certificates that SSL_CERT_FILE names", next: "correct SSL_CERT_FILE, or unset it; tests, "},
		{name: "a proxy without a name", config: right, env: []string{"HTTPS_PROXY=http://://"}, says: "HTTPS_PROXY is not the address of a known kind of proxy", next: "unset it"},
		{name: "a proxy's port", config: right, env: []string{"HTTP_PROXY=http://localhost:99999"}, says: "HTTP_PROXY is not the address of a known kind of proxy", next: "http://host:port"},

		{name: "a remote that is not there", config: right, files: map[string]string{".git/config": "[core]\n[remote \"origin\"]\nurl = /nowhere/project.git\n"}, says: "the remote refuses the merge", next: "push: never in .signalbox/config.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.examine(t)
		})
	}
}

func (c *wrongProject) examine(t *testing.T) {
	p := newProject(t, 1)
	p.write("agent.sh", "true\n")
	p.write(".signalbox/config.yaml", c.config)
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		path, executable := strings.CutSuffix(name, "+x")
		p.write(path, c.files[name])
		if executable {
			if err := os.Chmod(filepath.Join(p.dir, path), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.git("add", "--all", ":!environments.json", ":!state.json")
	p.git("commit", "--quiet", "-m", "What is wrong")

	doctor := p.startWith(c.env, "doctor")
	code := doctor.wait()
	out := doctor.out.String()
	for _, want := range []string{c.says, c.next} {
		if !strings.Contains(out, want) || code != 1 {
			t.Errorf("doctor: exit code %d, want 1 and %q in\n%s", code, want, out)
		}
	}
	run := p.startWith(c.env, "run", "1")
	code = run.wait()
	if c.runs {
		return
	}
	if called, _ := filepath.Glob(filepath.Join(p.dir, "runs/*/*/logs/*.S*")); code == 0 || len(called) > 0 {
		t.Errorf("run: exit code %d, called %q\n%s", code, called, run.out)
	}
	for _, stage := range p.stages() {
		if n := stage.Counters.ImplementerCalls; n > 0 {
			t.Errorf("an agent was called %d times\n%s", n, run.out)
		}
	}
}

// A repository that lost an object stops every run.
func TestDoctorNamesALostObject(t *testing.T) {
	t.Parallel()
	p := newProject(t, 1)
	tree := strings.TrimSpace(p.git("rev-parse", "HEAD^{tree}"))
	if err := os.Remove(filepath.Join(p.dir, ".git/objects", tree[:2], tree[2:])); err != nil {
		t.Fatal(err)
	}
	if out := p.run(1, "doctor"); !strings.Contains(out, "git can't read the files of main") || !strings.Contains(out, "git fsck") {
		t.Errorf("doctor doesn't name the lost object:\n%s", out)
	}
}

// What doctor cannot find wrong is not said to be missing.
func TestDoctorSaysOkForWhatCanRun(t *testing.T) {
	t.Parallel()
	p := newProject(t, 1)
	p.write("agent.sh", "true\n")
	p.write("test.sh", "true\n")
	p.write("requests/2.md", "---\nid: RQ-20260101-002\ntitle: Second\ndepends_on: 1\ntests: sh test.sh\n---\n")
	p.write("mine.py", "")
	p.write("glob.sh", "#!/bin/bash\nshopt -s extglob\nls !(x)\n")
	p.write(".signalbox/config.yaml", "workflow: simple\ntests: [bash glob.sh, sh -eu test.sh, './test.sh', 'cd requests && sh ../test.sh', python3 -V, python3 -m unittest, python3 -m mine]\nstress: A=b exec true\n"+
		"environment: {set_up: ['f() { echo $1; }; f <(true)'], verify: [{command: '[[ a == a ]] && echo OK', expect: OK}]}\n"+
		"agents: {shell: {driver: command, command: [sh, agent.sh]}}\n")
	p.git("add", "--all")
	p.git("update-index", "--chmod=+x", "test.sh")
	p.git("commit", "--quiet", "-m", "What is right")
	p.run(0, "doctor")
	p.write(".signalbox/config.yaml", "tests: [\n")
	if json := p.run(1, "doctor", "--json"); !strings.Contains(json, `"missing"`) {
		t.Errorf("no verdict is missing in\n%s", json)
	}
}
