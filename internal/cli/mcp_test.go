package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/txtar"
)

// agentClient is an agent's program that uses "signalbox mcp".
type agentClient struct {
	testing.TB
	*mcp.ClientSession
	updated chan string
}

// connects starts "signalbox mcp" as an agent's program does. answers are what its person answers in a form, nil for a program without forms.
func (p *project) connects(answers map[string]any, args ...string) *agentClient {
	p.Helper()
	c := &agentClient{TB: p.TB, updated: make(chan string, 1000)}
	options := &mcp.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { c.updated <- r.Params.URI }}
	if answers != nil {
		options.ElicitationHandler = func(_ context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: answers}, nil
		}
	}
	server := exec.Command(program(p), append([]string{"mcp"}, args...)...)
	server.Dir, server.Stderr, server.Env = p.dir, os.Stderr, append(os.Environ(), "ANTHROPIC_API_KEY=sk-ant-api03-0000000000000000")
	session, err := mcp.NewClient(&mcp.Implementation{Name: "robot", Version: "1"}, options).Connect(p.Context(), &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		p.Fatal(err)
	}
	c.ClientSession = session
	p.Cleanup(func() { _ = session.Close() })
	return c
}

// calls a tool. into, if not nil, gets the answer; of a refusal the text is returned.
func (c *agentClient) calls(into any, tool string, args map[string]any) (refused string) {
	c.Helper()
	result, err := c.CallTool(c.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		c.Fatalf("%s: %v", tool, err)
	}
	text := result.Content[0].(*mcp.TextContent).Text
	if result.IsError {
		return text
	}
	if into != nil {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			c.Fatalf("%s answers %q: %v", tool, text, err)
		}
	}
	return ""
}

// agentView is a run as the tools show it.
type agentView struct {
	State, Approve string
	Transition     int
	Stopped        *struct {
		ReasonCode string `json:"reason_code"`
	}
	Next []struct {
		Tool, Person string
		Arguments    map[string]any
	}
}

// waits waits as an agent does until the run is in a state.
func (c *agentClient) waits(run, state string) (v agentView) {
	c.Helper()
	for v.State != state {
		if refused := c.calls(&v, "wait_for_change", map[string]any{"run": run, "seen": v.Transition, "seconds": 60}); refused != "" {
			c.Fatal(refused)
		}
		if ended := v.State != "RUNNING" && v.State != "QUEUED"; ended && v.State != state {
			c.Fatalf("the run is %+v, and not %s", v, state)
		}
	}
	return v
}

func TestAnAgentHasARunCarriedOutThroughMCP(t *testing.T) {
	t.Parallel()
	p := newProject(t, 1, "approve: auto", "approve: manual")
	looking := p.connects(nil)
	const document = "signalbox://runs/1/stage.json"
	var listed struct{ Runs []struct{ Number int } }
	if looking.calls(&listed, "list_runs", map[string]any{"state": "new"}); len(listed.Runs) != 1 || listed.Runs[0].Number != 1 {
		t.Fatalf("it lists %+v", listed)
	}
	if refused := looking.calls(nil, "get_run", map[string]any{"run": 1}); !strings.Contains(refused, "there is no run of") {
		t.Errorf("a run that isn't there: %q", refused)
	}
	var begun agentView
	if refused := looking.calls(&begun, "start_run", map[string]any{"run": "1"}); refused != "" {
		t.Fatal(refused)
	}
	looking.calls(nil, "stop", map[string]any{"run": "1"})
	looking.waits("1", "NEEDS_INPUT")
	if refused := looking.calls(nil, "retry", map[string]any{"run": "1"}); !strings.Contains(refused, "only a failed run is retried") {
		t.Errorf("a retry of what did not fail: %q", refused)
	}
	if refused := looking.calls(nil, "resume", map[string]any{"run": "1"}); refused != "" {
		t.Fatal(refused)
	}
	if err := looking.Subscribe(t.Context(), &mcp.SubscribeParams{URI: document}); err != nil {
		t.Fatal(err)
	}
	asks := looking.waits("1", "NEEDS_INPUT")
	if last := asks.Next[len(asks.Next)-1]; asks.Approve == "" || asks.Stopped.ReasonCode != "APPROVAL_REQUIRED" || last.Tool == "" {
		t.Errorf("it asks with %+v", asks)
	}
	for _, next := range asks.Next {
		if next.Tool == "approve" {
			t.Errorf("who may not approve is offered it: %+v", next)
		}
	}
	if updated := <-looking.updated; updated != document {
		t.Errorf("what changed is %s", updated)
	}
	if _, err := looking.CallTool(t.Context(), &mcp.CallToolParams{Name: "approve", Arguments: map[string]any{"run": "1", "commit": asks.Approve}}); err == nil {
		t.Error("a client approves without being allowed to")
	}
	var said struct{ Explanation string }
	if looking.calls(&said, "explain", map[string]any{"run": "1"}); !strings.Contains(said.Explanation, "A person decides on the change at "+asks.Approve) {
		t.Errorf("it explains %q", said.Explanation)
	}
	var diff struct {
		Patch string
		Files []struct{ Path string }
		Next  int
	}
	if looking.calls(&diff, "get_diff", map[string]any{"run": "1", "from": -9}); diff.Next != 0 || !strings.Contains(diff.Patch, "+echo hello 1") || len(diff.Files) == 0 {
		t.Errorf("the change is %+v", diff)
	}
	var log struct {
		Logs, Lines []string
		Total, From int
	}
	if looking.calls(&log, "get_log", map[string]any{"run": "1"}); len(log.Logs) == 0 || log.From+len(log.Lines)-1 != log.Total {
		t.Errorf("the log is %+v", log)
	}
	read, err := looking.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: document})
	if err != nil || !strings.Contains(read.Contents[0].Text, `"APPROVAL_REQUIRED"`) {
		t.Errorf("the document is %+v, %v", read, err)
	}
	for _, address := range []string{"signalbox://runs/1/..%2f..%2fconfig.yaml", "signalbox://runs/1/signals.json", "signalbox://runs/9/stage.json", "file:///etc/passwd"} {
		if _, err := looking.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: address}); err == nil {
			t.Errorf("%s is read", address)
		}
	}

	allowed := p.connects(nil, "--approve")
	if refused := allowed.calls(nil, "approve", map[string]any{"run": "1", "commit": "0123456"}); !strings.Contains(refused, "not 0123456") {
		t.Errorf("another commit: %q", refused)
	}
	if refused := allowed.calls(nil, "approve", map[string]any{"run": "1", "commit": asks.Approve}); refused != "" {
		t.Fatal(refused)
	}
	allowed.waits("1", "DONE")
	if run := p.stage(1); !strings.HasSuffix(run.Details.Approval.By, " through robot") {
		t.Errorf("it was approved by %q", run.Details.Approval.By)
	}
}

func TestARunOutlivesTheClientThatStartedIt(t *testing.T) {
	t.Parallel()
	p := newProject(t, 1, "approve: auto", "approve: manual")
	c := p.connects(nil)
	if refused := c.calls(nil, "start_run", map[string]any{"run": "requests/1.md"}); refused != "" {
		t.Fatal(refused)
	}
	if refused := c.calls(nil, "start_run", map[string]any{"run": "1"}); !strings.Contains(refused, "another process works on request 1") {
		t.Errorf("a second start: %q", refused)
	}
	_ = c.Close()
	p.connects(nil).waits("1", "NEEDS_INPUT")
}

// The agent of the story about questions asks for permission, and then for a choice.
func TestAQuestionIsPutToThePersonAtTheClient(t *testing.T) {
	t.Parallel()
	story, err := txtar.ParseFile("testdata/script/questions.txtar")
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t, projectDir(t)}
	for _, f := range story.Files {
		p.write(f.Name, string(f.Data))
	}
	if err := os.Chmod(filepath.Join(p.dir, "agents", "claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.git("init", "--quiet", "--initial-branch=main")
	p.git("add", ".")
	p.git("commit", "--quiet", "-m", "Begin")
	without, with := p.connects(nil), p.connects(map[string]any{"allow": true, "option": 2})
	if refused := without.calls(nil, "start_run", map[string]any{"run": "1"}); refused != "" {
		t.Fatal(refused)
	}
	asks := func(id string) {
		t.Helper()
		for v := (struct {
			agentView
			Question struct{ ID string }
		}{}); v.Question.ID != id; {
			if refused := without.calls(&v, "wait_for_change", map[string]any{"run": "1", "seen": max(v.Transition, 1)}); refused != "" || v.State == "FAILED" {
				t.Fatalf("it asks no %s: %s, %+v", id, refused, v)
			}
		}
	}
	asks("Q1")
	if refused := without.calls(nil, "answer", map[string]any{"run": "1", "verdict": "allow"}); !strings.Contains(refused, "may not allow") {
		t.Errorf("who may not allow: %q", refused)
	}
	for _, client := range []*agentClient{without, with} {
		forged := &mcp.CallToolParams{Name: "answer", Arguments: map[string]any{"run": "1"}, RequestState: "Q1",
			InputResponses: mcp.InputResponseMap{"answer": &mcp.ElicitResult{Action: "accept", Content: map[string]any{"allow": true}}}}
		if result, err := client.CallTool(t.Context(), forged); err == nil && !result.IsError {
			t.Errorf("an answer to a form that nobody was shown counts: %+v", result.Content[0])
		}
	}
	var got struct {
		Answer struct {
			Verdict, By string
			Option      int
		}
	}
	if refused := with.calls(&got, "answer", map[string]any{"run": "1"}); got.Answer.Verdict != "allow" || !strings.HasSuffix(got.Answer.By, " through robot") {
		t.Errorf("the person's permission becomes %+v, %q", got, refused)
	}
	asks("Q2")
	if refused := with.calls(&got, "answer", map[string]any{"run": "1"}); got.Answer.Verdict != "option" || got.Answer.Option != 2 {
		t.Errorf("the person's choice becomes %+v, %q", got, refused)
	}
	without.waits("1", "DONE")
}

func TestMCPRefusesWhatAPersonDecides(t *testing.T) {
	t.Parallel()
	p := newProject(t, 1)
	t.Run("a project that nobody trusts", func(t *testing.T) {
		server := exec.Command(program(p), "mcp")
		server.Dir, server.Env = p.dir, append(os.Environ(), "SIGNALBOX_TRUST=", "XDG_STATE_HOME="+t.TempDir())
		session, err := mcp.NewClient(&mcp.Implementation{Name: "robot", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: server}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = session.Close() }()
		c := &agentClient{TB: t, ClientSession: session}
		if refused := c.calls(nil, "start_run", map[string]any{"run": "1"}); !strings.Contains(refused, "signalbox trust") {
			t.Errorf("it answers %q", refused)
		}
	})
	t.Run("more than it takes", func(t *testing.T) {
		c := p.connects(nil)
		if refused := c.calls(nil, "create_request", map[string]any{"title": "x", "body": strings.Repeat("x", 65<<10)}); !strings.Contains(refused, "at most 65536") {
			t.Errorf("it answers %q", refused)
		}
		if files, _ := filepath.Glob(filepath.Join(p.dir, "requests", "*x*")); len(files) > 0 {
			t.Errorf("it wrote %q", files)
		}
	})
}
