package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"signalbox/internal/registry"
)

// containerUse is the name under which the test binary is a server with the tools of container-use, as its sources of August 2026 (2e43e62) define
// and answer them. It makes no container: what git shows of an environment is all there is.
const containerUse = "container-use"

// Titles that begin so make the server leave the call unanswered: once the environment is there, or before.
const (
	silentAfter  = "Silent after"
	silentBefore = "Silent before"
)

type containerUseCall struct {
	Source string `json:"environment_source"`
	ID     string `json:"environment_id,omitempty"`
	Title  string `json:"title,omitempty"`
	From   string `json:"from_git_ref,omitempty"`
	Why    string `json:"explanation,omitempty"`
	File   string `json:"target_file,omitempty"`
}

func serveContainerUse() {
	server := mcp.NewServer(&mcp.Implementation{Name: "Dagger", Version: "1.0.0"}, nil)
	tool := func(name string, answer func(context.Context, containerUseCall) (string, error)) {
		mcp.AddTool(server, &mcp.Tool{Name: name, Description: name}, func(ctx context.Context, _ *mcp.CallToolRequest, in containerUseCall) (*mcp.CallToolResult, any, error) {
			text, err := answer(ctx, in)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, err
		})
	}
	tool("environment_create", func(ctx context.Context, in containerUseCall) (string, error) {
		if strings.HasPrefix(in.Title, silentBefore) {
			<-ctx.Done()
			return "", ctx.Err()
		}
		id := strings.ToLower(strings.NewReplacer(" ", "-", "#", "", "é", "e").Replace(in.Title))
		note := fmt.Sprintf(`{"created_at":"2026-08-12T09:30:00Z","updated_at":"2026-08-12T09:31:00Z","title":%q}`, in.Title)
		var made string
		for _, args := range [][]string{{"commit-tree", in.From + "^{tree}", "-p", in.From, "-m", "Create environment " + id},
			{"notes", "--ref", "container-use-state", "add", "-f", "-m", note, "COMMIT"}, {"update-ref", "refs/remotes/container-use/" + id, "COMMIT"}} {
			args[len(args)-1] = strings.Replace(args[len(args)-1], "COMMIT", made, 1)
			out, err := exec.Command("git", append([]string{"-C", in.Source}, args...)...).CombinedOutput()
			if err != nil {
				return "", fmt.Errorf("failed to create environment: %s", out)
			}
			if made == "" {
				made = strings.TrimSpace(string(out))
			}
		}
		if strings.HasPrefix(in.Title, silentAfter) {
			<-ctx.Done()
		}
		answer, err := json.Marshal(map[string]any{"title": in.Title, "remote_ref": "container-use/" + id})
		return `{"id":"` + id + `",` + string(answer[1:]) + "\n\nCRITICAL: You MUST inform the user that the repository has uncommitted changes {\"id\":\"x\"}.", err
	})
	tool("environment_open", func(_ context.Context, in containerUseCall) (string, error) {
		return `{"id":"` + in.ID + `","title":"as it was"}`, nil
	})
	tool("environment_file_read", func(_ context.Context, in containerUseCall) (string, error) {
		data, err := os.ReadFile(in.File)
		return string(data), err
	})
	tool("environment_list", func(context.Context, containerUseCall) (string, error) { return "[]", nil })
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(7)
	}
}

// wrapped connects an agent's program to container-use through "signalbox mcp wrap". dies is what the wrapper sees of the agent's end.
func (p *project) wrapped(args ...string) (c *agentClient, wrapper *exec.Cmd, dies func()) {
	p.Helper()
	self, err := os.Executable()
	if err != nil {
		p.Fatal(err)
	}
	server := filepath.Join(p.TempDir(), containerUse)
	if err := os.Symlink(self, server); err != nil {
		p.Fatal(err)
	}
	wrapper = exec.Command(program(p), append(append([]string{"mcp", "wrap"}, args...), "--", server, "stdio")...)
	wrapper.Dir, wrapper.Stderr = p.dir, os.Stderr
	in, inErr := wrapper.StdinPipe()
	out, outErr := wrapper.StdoutPipe()
	if err := errors.Join(inErr, outErr, wrapper.Start()); err != nil {
		p.Fatal(err)
	}
	dies = sync.OnceFunc(func() {
		_, _ = in.Close(), out.Close()
		_ = wrapper.Wait()
	})
	p.Cleanup(dies)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "robot", Version: "1"}, nil).Connect(p.Context(), &mcp.IOTransport{Reader: out, Writer: in}, nil)
	if err != nil {
		p.Fatal(err)
	}
	return &agentClient{TB: p.TB, ClientSession: session}, wrapper, dies
}

// output is what a command prints that succeeds.
func (p *project) output(args ...string) string {
	p.Helper()
	code, out := p.said(args...)
	if code != 0 {
		p.Fatalf("signalbox %v exits with %d: %s", args, code, out)
	}
	return out
}

// environments are the entries of environments.json.
func (p *project) environments() (doc registry.Environments) {
	p.Helper()
	if err := json.Unmarshal([]byte(p.output("env", "list", "--json")), &doc); err != nil {
		p.Fatal(err)
	}
	return doc
}

func TestWhatAnAgentDoesWithContainerUseIsRecorded(t *testing.T) {
	t.Parallel()
	p := newProject(t, 1)
	c, _, _ := p.wrapped()
	create := func(title string) map[string]any {
		return map[string]any{"environment_source": p.dir, "title": title, "from_git_ref": "HEAD"}
	}
	result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "environment_create", Arguments: create("Log in #42")})
	if err != nil || result.IsError {
		t.Fatal(result, err)
	}
	const want = `{"id":"log-in-42","remote_ref":"container-use/log-in-42","title":"Log in #42"}` + "\n\nCRITICAL: You MUST inform the user that the repository has uncommitted changes {\"id\":\"x\"}."
	if text := result.Content[0].(*mcp.TextContent).Text; text != want {
		t.Errorf("the answer is %q", text)
	}
	doc := p.environments()
	if e, err := doc.Find("log-in-42"); err != nil || e.IssueNumber != 42 || e.Branch != "container-use/log-in-42" || e.Title != "Log in #42" || e.Step != "env-create" {
		t.Fatalf("recorded: %+v, %v", doc, err)
	}
	if refused := c.calls(nil, "environment_create", map[string]any{"environment_source": p.dir, "title": "Fails #43", "from_git_ref": "no-such-ref"}); refused == "" {
		t.Error("an environment from no commit was created")
	}
	if refused := c.calls(nil, "environment_create", create("Names nothing")); refused != "" {
		t.Error(refused)
	}
	if doc = p.environments(); len(doc.Environments) != 1 {
		t.Errorf("recorded: %+v", doc)
	}

	// It is used after a while, and a long answer passes.
	tools := p.connects(nil, "--environments")
	id := map[string]any{"env_id": "log-in-42"}
	with := func(key string, value any) map[string]any {
		args := maps.Clone(id)
		args[key] = value
		return args
	}
	for _, step := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"update_phase", with("step", "tdd-green"), ""},
		{"update_phase", with("step", "dancing"), "invalid environment entry"},
		{"add_pending_issue", with("finding", "No test of a wrong password"), ""},
		{"set_blocked", map[string]any{"env_id": "log-in-42", "reason": "design_ambiguity", "description": "int or UUID?"}, ""},
		{"update_environment_pr", with("pr_number", 0), "want 1 or more"},
		{"register_environment", map[string]any{"env_id": "log-in-42", "issue_number": 7, "branch": "x", "title": "Another"}, "is registered for issue 42"},
		{"touch_environment", map[string]any{"env_id": "no-such"}, "no such environment"},
	} {
		if refused := tools.calls(nil, step.tool, step.args); (step.want == "") != (refused == "") || !strings.Contains(refused, step.want) {
			t.Errorf("%s %v: %q, want %q", step.tool, step.args, refused, step.want)
		}
	}
	var found []registry.Environment
	if tools.calls(&found, "find_environment", map[string]any{"issue_number": 42}); len(found) != 1 || found[0].Blocked == nil || len(found[0].PendingIssues) != 1 {
		t.Errorf("found: %+v", found)
	}
	for _, tool := range []string{"clear_blocked", "clear_pending_issues"} {
		if refused := tools.calls(nil, tool, id); refused != "" {
			t.Errorf("%s: %s", tool, refused)
		}
	}
	long := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(long, []byte(strings.Repeat("long", 3<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	result, err = c.CallTool(t.Context(), &mcp.CallToolParams{Name: "environment_file_read", Arguments: map[string]any{"environment_source": p.dir, "environment_id": "log-in-42", "target_file": long}})
	if err != nil || len(result.Content[0].(*mcp.TextContent).Text) != 12<<20 {
		t.Errorf("a long answer: %v", err)
	}
	if refused := c.calls(nil, "environment_open", map[string]any{"environment_source": p.dir, "environment_id": "log-in-42"}); refused != "" {
		t.Error(refused)
	}
	doc = p.environments()
	if e, err := doc.Find("log-in-42"); err != nil || e.Step != "tdd-green" || e.Title != "Log in #42" || e.Blocked != nil || len(e.PendingIssues) != 0 {
		t.Errorf("after it was opened: %+v, %v", e, err)
	}
}

func TestAnEnvironmentOfContainerUseIsRecordedThoughItsAnswerIsLost(t *testing.T) {
	t.Parallel()
	p := newProject(t, 1)
	for i, life := range []struct {
		title, issue string
		whom         string // who is killed
		want         int    // how many entries there are then
	}{
		{silentAfter + " the wrapper dies", "44", "wrapper", 1},
		{silentAfter + " the agent dies #45", "", "agent", 2},
		{silentBefore + " the wrapper dies", "46", "wrapper", 2}, // nothing was made
	} {
		var args []string
		if life.issue != "" {
			args = []string{"--issue", life.issue}
		}
		c, wrapper, dies := p.wrapped(args...)
		begun := p.git("for-each-ref", "refs/remotes/container-use")
		go func() {
			_, _ = c.CallTool(t.Context(), &mcp.CallToolParams{Name: "environment_create", Arguments: map[string]any{"environment_source": p.dir, "title": life.title, "from_git_ref": "HEAD"}})
		}()
		if strings.HasPrefix(life.title, silentBefore) {
			until(t, p.dir, nil, func() bool {
				data, _ := os.ReadFile(filepath.Join(p.dir, ".signalbox", "environments", "container-use.json"))
				return strings.Contains(string(data), life.title)
			}, ".signalbox/environments")
		} else {
			until(t, p.dir, nil, func() bool { return p.git("for-each-ref", "refs/remotes/container-use") != begun }, ".git/refs", ".git/refs/remotes", ".git/refs/remotes/container-use")
		}
		if life.whom == "wrapper" {
			_ = wrapper.Process.Kill()
		}
		dies()
		again, _, _ := p.wrapped() // has caught up before it answers
		if refused := again.calls(nil, "environment_list", map[string]any{"environment_source": p.dir}); refused != "" {
			t.Error(refused)
		}
		if doc := p.environments(); len(doc.Environments) != life.want || i == 0 && doc.Environments[0].IssueNumber != 44 || i == 1 && doc.Environments[1].IssueNumber != 45 {
			t.Errorf("%s: recorded are %+v", life.title, doc)
		}
	}
	if out := p.output("env", "sync"); !strings.Contains(out, "every environment of container-use is recorded") {
		t.Errorf("after all, there is more to record: %s", out)
	}
}
