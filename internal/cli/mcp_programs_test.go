package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/agent/modeltest"
)

// inspector is the official inspector of MCP servers, looking at "signalbox mcp" with every tool.
type inspector struct{ *project }

// server is how its command line names the server. It gives a server little of its own environment.
func (i inspector) server() []string {
	args := []string{program(i), "mcp", "--approve", "--environments", "--format", "json", "--quiet"}
	for _, variable := range append([]string{"SIGNALBOX_TRUST=1", "XDG_STATE_HOME=" + os.Getenv("XDG_STATE_HOME")}, ada...) {
		args = append(args, "-e", variable)
	}
	return args
}

// runs runs one of its programs and returns the results that it prints.
func (i inspector) runs(program string, args ...string) (results []inspected) {
	i.Helper()
	cmd := exec.Command(program, args...)
	var complaints strings.Builder
	cmd.Dir, cmd.Stderr, cmd.Env = i.dir, &complaints, append(os.Environ(), "HOME="+i.TempDir(), "MCP_INSPECTOR_SECRET_STORE=memory")
	out, err := cmd.Output()
	if err != nil {
		i.Fatalf("%v\n%s%s", err, out, complaints.String())
	}
	for line := range strings.Lines(string(out)) {
		var r inspected
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			i.Fatalf("it prints %q: %v", line, err)
		}
		results = append(results, r)
	}
	i.Log(complaints.String())
	return results
}

// inspected is a result, as the inspector prints it.
type inspected struct {
	Result struct {
		Tools             []struct{ Name string }
		ResourceTemplates []struct{ URITemplate string }
		Content           []struct{ Text string }
		Contents          []struct{ Text string }
		IsError           bool
	}
}

// inMany calls the inspector's command line once for each list of arguments, all in one process: its start is what costs most. The first argument
// is no file: as the inspector's own it would make it the program.
const inMany = `const { runCli } = await import(process.argv[2]);
for (const args of JSON.parse(process.argv[3])) await runCli(["node", "inspector", ...args]).catch(e => console.error(e.message))`

func TestTheOfficialInspectorCallsEveryTool(t *testing.T) {
	t.Parallel()
	command := installed(t, "SIGNALBOX_RUNNERS", "runners.sh", "mcp-inspector")
	i := inspector{newProject(t, 1, "approve: auto", "approve: manual")}
	does := func(method ...string) inspected {
		t.Helper()
		return i.runs(command, append(i.server(), append([]string{"--method"}, method...)...)...)[0]
	}
	if templates := does("resources/templates/list").Result.ResourceTemplates; !slices.Contains(templates, struct{ URITemplate string }{"signalbox://runs/{number}/stage.json"}) {
		t.Errorf("the documents are %+v", templates)
	}
	if begun := does("tools/call", "--tool-name", "start_run", "--tool-args-json", `{"run": "1"}`).Result; begun.IsError {
		t.Fatalf("it starts nothing: %+v", begun)
	}
	asks := i.connects(nil).waits("1", "NEEDS_INPUT")

	calls := []struct{ tool, args, answer string }{
		{"start_run", `{"run": "1"}`, ""},
		{"list_runs", `{}`, `"number":1`},
		{"get_run", `{"run": "1"}`, "APPROVAL_REQUIRED"},
		{"explain", `{"run": "1"}`, "A person decides on the change at " + asks.Approve},
		{"wait_for_change", `{"run": "1", "seen": 1}`, "APPROVAL_REQUIRED"},
		{"get_log", `{"run": "1"}`, `"lines":[`},
		{"get_diff", `{"run": "1"}`, "+echo hello 1"},
		{"create_request", `{"title": "Greet in the evening"}`, "evening"},
		{"answer", `{"run": "1", "verdict": "allow"}`, "it asks nothing"},
		{"retry", `{"run": "1"}`, "only a failed run is retried"},
		{"resume", `{"run": "2"}`, "there is no run of"},
		{"reject", `{"run": "2", "reason": "Greet nobody"}`, "there is no run of"},
		{"stop", `{"run": "2"}`, "there is no run of"},
		{"approve", `{"run": "1", "commit": "` + asks.Approve + `"}`, ""},
		{"register_environment", `{"env_id": "fancy-mallard", "issue_number": 7, "branch": "b", "title": "Greet"}`, "fancy-mallard"},
		{"list_environments", `{}`, "fancy-mallard"},
		{"find_environment", `{"issue_number": 7}`, "fancy-mallard"},
		{"touch_environment", `{"env_id": "fancy-mallard"}`, "fancy-mallard"},
		{"update_phase", `{"env_id": "fancy-mallard", "step": "tdd-green"}`, "tdd-green"},
		{"update_environment_pr", `{"env_id": "fancy-mallard", "pr_number": 12}`, "12"},
		{"add_pending_issue", `{"env_id": "fancy-mallard", "finding": "Uncommented"}`, "Uncommented"},
		{"clear_pending_issues", `{"env_id": "fancy-mallard"}`, "fancy-mallard"},
		{"set_blocked", `{"env_id": "fancy-mallard", "reason": "resource_limit", "description": "No room"}`, "No room"},
		{"clear_blocked", `{"env_id": "fancy-mallard"}`, "fancy-mallard"},
		{"mark_environment_abandoned", `{"env_id": "fancy-mallard"}`, "abandoned"},
		{"mark_environment_merged", `{"env_id": "fancy-mallard"}`, "merged"},
		{"remove_environment", `{"env_id": "fancy-mallard"}`, "fancy-mallard"},
	}
	all := [][]string{append(i.server(), "--method", "tools/list"), append(i.server(), "--method", "resources/read", "--uri", "signalbox://runs/1/stage.json")}
	for _, c := range calls {
		all = append(all, append(i.server(), "--method", "tools/call", "--tool-name", c.tool, "--tool-args-json", c.args))
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(filepath.Dir(command), "node/bin/node")
	if _, err := os.Stat(node); err != nil {
		node = "node" // the system's is new enough
	}
	results := i.runs(node, "--input-type=module", "-e", inMany, "calls",
		filepath.Join(filepath.Dir(command), "inspector/node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js"), string(text))
	if len(results) != len(all) {
		t.Fatalf("%d of %d have a result", len(results), len(all))
	}
	if read := results[1].Result.Contents; len(read) != 1 || !strings.Contains(read[0].Text, "APPROVAL_REQUIRED") {
		t.Errorf("the document is %+v", read)
	}
	var listed, called []string
	for _, tool := range results[0].Result.Tools {
		listed = append(listed, tool.Name)
	}
	for n, c := range calls {
		called = append(called, c.tool)
		if got := results[n+2].Result.Content; len(got) != 1 || !strings.Contains(got[0].Text, c.answer) {
			t.Errorf("%s answers %+v, and not %q", c.tool, got, c.answer)
		}
	}
	slices.Sort(listed)
	slices.Sort(called)
	if !slices.Equal(listed, called) {
		t.Errorf("there are %q, and called are %q", listed, called)
	}
	i.connects(nil).waits("1", "DONE")
}

// The real Claude Code starts a run, waits for it and has it explained, by what "signalbox mcp install claude" wrote.
func TestClaudeCodeHasARunCarriedOutThroughMCP(t *testing.T) {
	t.Parallel()
	claude := installed(t, "SIGNALBOX_AGENTS", "agents.sh", "claude")
	tool := func(name, args string) modeltest.Turn {
		return modeltest.Do(modeltest.Tool("mcp__signalbox__"+name, args))
	}
	const said = "I looked at what it came to."
	model := modeltest.Start(t, modeltest.Config{Key: apiKey, Script: modeltest.Script{Turns: []modeltest.Turn{
		tool("list_runs", `{}`), tool("start_run", `{"run": "1"}`), tool("wait_for_change", `{"run": "1", "seconds": 60}`), tool("explain", `{"run": "1"}`), modeltest.Say(said)}}})
	p := newProject(t, 1, "approve: auto", "approve: manual")
	p.run(0, "mcp", "install", "claude")
	cmd := exec.CommandContext(t.Context(), claude, "-p", "Greet number 1, through Signalbox.", "--mcp-config", ".mcp.json", "--strict-mcp-config",
		"--allowedTools", "mcp__signalbox", "--model", "claude-sonnet-4-5")
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "ANTHROPIC_BASE_URL="+model.URL, "ANTHROPIC_API_KEY="+apiKey,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_MAX_RETRIES=2")
	cmd.Env = append(cmd.Env, append(ada, modeltest.Lean...)...)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), said) {
		t.Fatalf("claude: %v\n%s\n%+v", err, out, model.Unexpected())
	}
	var results []string
	for _, x := range model.Exchanges() {
		if len(x.Conversation.Results) > len(results) {
			results = x.Conversation.Results
		}
	}
	wants := []string{`"number":1`, `"run_id":"`, `"transition":`, "Greet number 1\\\", is "}
	if len(results) != len(wants) {
		t.Fatalf("the model got %q", results)
	}
	for i, want := range wants {
		if !strings.Contains(results[i], want) {
			t.Errorf("result %d is %q, and has no %s", i+1, results[i], want)
		}
	}
	if asks := p.connects(nil).waits("1", "NEEDS_INPUT"); asks.Approve == "" {
		t.Errorf("the run ends with %+v", asks)
	}
}
