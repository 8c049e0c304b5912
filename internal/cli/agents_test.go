package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/agent/modeltest"
	"signalbox/internal/environment/container/containertest"
)

// apiKey is worth something to the scripted model alone. No agent must ever see it.
const apiKey = "sk-ant-the-real-key-0123456789abcdef"

// realAgents are the programs that carry a request, with what the configuration says of each.
var realAgents = map[string]string{
	"claude": "driver: claude, model: claude-sonnet-4-5",
	"codex":  "driver: codex", // what it is without a model offers the model other tools than gpt-5

	"opencode": "driver: opencode, model: anthropic/claude-sonnet-4-5",
	"pi":       "driver: pi, model: anthropic/claude-sonnet-4-5",
	"gemini":   "driver: gemini", // asks a small model first which model is to work
}

// realAgent is what the configuration says of a real agent, without its closing brace, and of the environment it works in.
// The agent starts lean: its Bun compiles less, its Node finds what a live test of its driver compiled before, and opencode reads no
// list of models, which takes a third of each start.
func realAgent(t *testing.T, name, driver string) (it, environment string) {
	t.Helper()
	it, environment = fmt.Sprintf("{%s, program: %q", driver, installedAgent(t, name)), "{}"
	variables, read := modeltest.Lean, ""
	switch name {
	case "codex": // neither
		return it, environment
	case "opencode":
		read = filepath.Join(t.TempDir(), "lists", "models.json")
		writeFile(t, read, "{}", 0o600)
		variables = append([]string{"OPENCODE_MODELS_PATH=" + read}, variables...)
	case "pi", "gemini":
		read = filepath.Join(filepath.Dir(os.Getenv("SIGNALBOX_AGENTS")), ".compiled")
		if err := os.MkdirAll(read, 0o700); err != nil {
			t.Fatal(err)
		}
		variables = []string{"NODE_COMPILE_CACHE=" + read, "NODE_OPTIONS=--v8-pool-size=0"}
	}
	if read != "" {
		environment = fmt.Sprintf("{read: [%q]}", read)
	}
	return it + fmt.Sprintf(", env: [%s]", strings.Join(variables, ", ")), environment
}

// Each agent plans, writes a test, makes it pass and reviews, as its real program does, while
// the model's words are ours. An agent whose vendor has variables for it reaches the model through a company's
// gateway and proxy; what the configuration names leads the others there.
func TestRealAgentsCarryARequestToAMergedChange(t *testing.T) {
	t.Parallel()
	for name := range realAgents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			it, environment := realAgent(t, name, realAgents[name])
			p, config := newProject(t, 1), modeltest.Config{Key: apiKey, Choose: playTheRole}
			if way, ok := companysWays[name]; ok {
				p.carryThrough(newCompany(t, way, config), it)
				return
			}
			model := modeltest.Start(t, config)
			p.names(it+fmt.Sprintf(", url: %q, key: SIGNALBOX_TEST_KEY", model.URL), environment)
			p.mustCarry(p.startWithAgents("run", "1"), model)
		})
	}
}

// A container holds no agent but what its image has; Claude Code is one file that runs in any.
func TestARealAgentWorksInAContainer(t *testing.T) {
	t.Parallel()
	it, _ := realAgent(t, "claude", realAgents["claude"])
	model := modeltest.Start(t, modeltest.Config{Key: apiKey, Choose: playTheRole})
	docker := containertest.New(t)
	p := newProject(t, 1)
	t.Cleanup(func() { docker.RemoveProject(t, p.dir) })
	p.names(it+fmt.Sprintf(", url: %q, key: SIGNALBOX_TEST_KEY", model.URL), fmt.Sprintf("{driver: container, image: %q}\nworkflow: simple", docker.Image))
	p.mustCarry(p.startWithAgents("run", "1"), model)
}

// names names the agent and the environment of request 1.
func (p *project) names(agent, environment string) {
	p.Helper()
	p.write(".signalbox/config.yaml", "tests: [for test in tests/*.sh; do sh \"$test\" || exit 1; done]\napprove: auto\nenvironment: "+environment+
		"\nagents:\n  it: "+agent+", prices: {claude-sonnet-4-5: {input: 3, output: 15}, gpt-6.1-sol: {input: 3, output: 15}, gemini-3.8-flash: {input: 3, output: 15}}}\n")
	p.git("commit", "--quiet", "-am", "Name the agent")
}

// mustCarry wants request 1 merged.
func (p *project) mustCarry(c *child, model *modeltest.Server) {
	p.Helper()
	if got := c.waitFor(10 * time.Minute); got != 0 {
		p.tellTranscripts()
		p.Fatalf("exit code %d\n%s", got, c.out)
	}
	p.mustLeaveNothing()
	if got := p.git("show", "main:greet-1.sh"); got != "# Says hello.\necho hello 1" {
		p.Errorf("greet-1.sh is %q", got)
	}
	p.mustHaveUsed(model)
}

// startWithAgents starts signalbox with the key, and with the Node that the agents run on, which is among them.
func (p *project) startWithAgents(args ...string) *child {
	p.Helper()
	return p.startWith([]string{"SIGNALBOX_TEST_KEY=" + apiKey, "PATH=" + os.Getenv("SIGNALBOX_AGENTS") + ":" + os.Getenv("PATH")}, args...)
}

// installedAgent is the program of a real agent.
func installedAgent(t *testing.T, name string) string {
	t.Helper()
	return installed(t, "SIGNALBOX_AGENTS", "agents.sh", name)
}

// installed is a program in the folder that a script prints and a variable names.
func installed(t *testing.T, variable, script, name string) string {
	t.Helper()
	path := filepath.Join(os.Getenv(variable), name)
	if _, err := os.Stat(path); err == nil && filepath.IsAbs(path) {
		return path
	}
	hint := fmt.Sprintf("set %s to the folder that scripts/%s prints", variable, script)
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed: %s", name, hint)
	}
	t.Skipf("%s is not installed: %s", name, hint)
	return ""
}

// playTheRole is what the model does, by what it is asked for.
func playTheRole(c modeltest.Conversation) modeltest.Script {
	all := c.System + "\n" + c.Prompt
	does := func(path, content string) modeltest.Script {
		return modeltest.Script{Dir: "/workspace", Turns: []modeltest.Turn{modeltest.Do(modeltest.Write(path, content)), modeltest.Say("Wrote " + path + ".")}}
	}
	switch {
	case strings.Contains(all, "You review"):
		return modeltest.Script{Turns: []modeltest.Turn{modeltest.Say(`{"summary": "Good.", "findings": []}`)}}
	case strings.Contains(all, "action_plan"):
		return modeltest.Script{Turns: []modeltest.Turn{modeltest.SayJSON(plan)}}
	case strings.Contains(all, "Step S01, tdd-red"):
		return does("tests/1.sh", "test \"$(sh greet-1.sh)\" = \"hello 1\"\n")
	case strings.Contains(all, "Step S0"): // the second of the plan, or the only one of the simple workflow
		return does("greet-1.sh", "# Says hello.\necho hello 1\n")
	}
	return modeltest.Script{}
}

type object = map[string]any

var plan = object{
	"goal_understanding":   "A script says hello.",
	"selected_environment": object{"name": "python", "setup_commands": []string{"true"}, "verification": []object{{"command": "echo ok", "expected_output": "ok"}}},
	"action_plan": object{"steps": []object{
		{"step_id": "S01", "title": "Show what is missing", "phase": "tdd-red", "instructions": "Write a failing test."},
		{"step_id": "S02", "title": "Say hello", "phase": "tdd-green", "instructions": "Make the test pass."},
	}},
}

// mustHaveUsed holds the run's reckoning against what the model's server saw.
func (p *project) mustHaveUsed(model *modeltest.Server) {
	p.Helper()
	if unexpected := model.Unexpected(); len(unexpected) > 0 {
		p.Errorf("the model was asked for what it does not know: %+v", unexpected)
	}
	var tokens int64
	for _, x := range model.Exchanges() {
		if x.Key != apiKey {
			p.Errorf("a request came with the key %q", x.Key)
		}
		if x.Conversation.API != "" && x.Status == 200 {
			tokens += modeltest.DefaultUsage.Input + modeltest.DefaultUsage.Output
		}
	}
	run := p.stage(1)
	if spent := run.Details.Spent; spent.Tokens() != tokens || spent.CostMicroUSD == 0 {
		p.Errorf("the run counted %+v, the model %d tokens", spent, tokens)
	}
	err := filepath.WalkDir(p.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), apiKey) {
			p.Errorf("the key is in %s", path)
		}
		return nil
	})
	if err != nil {
		p.Error(err)
	}
}

// tellTranscripts shows what the agents did.
func (p *project) tellTranscripts() {
	p.Helper()
	paths, _ := filepath.Glob(filepath.Join(p.dir, "runs", "*", "*", "logs", "*"))
	for _, path := range paths {
		data, _ := os.ReadFile(path)
		p.Logf("%s\n%.6000s", filepath.Base(path), data)
	}
}

// A usage limit parks the run until the time that the model's server named, and costs no attempt.
func TestARunWaitsOutALimitOfItsModel(t *testing.T) {
	t.Parallel()
	it, _ := realAgent(t, "claude", realAgents["claude"])
	var asked atomic.Int32
	model := modeltest.Start(t, modeltest.Config{Choose: func(c modeltest.Conversation) modeltest.Script {
		script := playTheRole(c)
		if strings.Contains(c.Prompt, "Step S01") && asked.Add(1) == 1 {
			script.Turns[0].Fault = modeltest.Fault{Kind: modeltest.UsageLimited, RetryAfter: 4 * time.Second}
		}
		return script
	}})
	p := newProject(t, 1)
	p.write(".signalbox/config.yaml", fmt.Sprintf("workflow: simple\ntests: [for test in tests/*.sh; do sh \"$test\" || exit 1; done]\napprove: auto\n"+
		"agents:\n  it: %s, url: %q, key: SIGNALBOX_TEST_KEY}\n", it, model.URL))
	p.git("commit", "--quiet", "-am", "Name the agent")
	c := p.startWithAgents("run", "1")
	if got := c.wait(); got != 0 {
		p.tellTranscripts()
		t.Fatalf("exit code %d\n%s", got, c.out)
	}
	if run := p.stage(1); run.Counters.Retries != 0 || run.Steps[0].Attempt != 1 || !strings.Contains(c.out.String(), "parked until") {
		t.Errorf("%d retries, attempt %d of S01, and it said\n%s", run.Counters.Retries, run.Steps[0].Attempt, c.out)
	}
	p.mustLeaveNothing()
}

// A call that reaches a budget is ended while it runs: the run's asks a person, the day's waits. What
// is raised counts at the next start.
func TestBudgetsEndACallAndAreRaised(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, modeltest.Config{Choose: playTheRole})
	p := newProject(t, 1)
	it, _ := realAgent(t, "claude", realAgents["claude"])
	limited := func(limits string) {
		p.write(".signalbox/config.yaml", fmt.Sprintf("workflow: simple\ntests: [for test in tests/*.sh; do sh \"$test\" || exit 1; done]\napprove: auto\nlimits: %s\n"+
			"agents:\n  it: %s, url: %q, key: SIGNALBOX_TEST_KEY}\n", limits, it, model.URL))
		p.git("commit", "--quiet", "-am", "Limit the agent to "+limits)
	}
	carry := func(args ...string) *child { return p.startWithAgents(args...) }
	limited("{tokens: 1000}")
	if c := carry("run", "1"); c.wait() != 3 || p.stage(1).Error.ReasonCode != "AGENT_OVERSPENT" {
		t.Fatalf("the run's budget: %+v\n%s", p.stage(1).Error, c.out)
	}
	limited("{tokens: 100000, per_day: {tokens: 2000}}")
	c := carry("resume", "1")
	if !c.until(func() bool { return p.stage(1).Details.ParkedUntil != nil }) {
		t.Fatalf("the day's budget parks nothing:\n%s", c.out)
	}
	if said := p.run(0, "status", "1"); !strings.Contains(said, "or at once: signalbox resume 1") {
		t.Errorf("nobody says what to type:\n%s", said)
	}
	c.signal(syscall.SIGINT)
	if c.wait(); !strings.Contains(c.out.String(), "limits.per_day") {
		t.Errorf("the day's budget is not named:\n%s", c.out)
	}
	limited("{}")
	if c := carry("resume", "1"); c.wait() != 0 {
		p.tellTranscripts()
		t.Fatalf("it does not go on:\n%s", c.out)
	}
	if got := p.git("show", "main:greet-1.sh"); got != "# Says hello.\necho hello 1" {
		t.Errorf("greet-1.sh is %q", got)
	}
	p.mustLeaveNothing()
}
